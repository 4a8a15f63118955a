// What the core needs from the world around it. Real programs give it the machine's clock and the
// client's event loop; the simulation and the test kit give it virtual ones.
#pragma once

#include <cstdint>
#include <functional>

#include <holdfast/types.hpp>

namespace holdfast::core {

class host {
  public:
    virtual ~host() = default;
    virtual time_point now() const noexcept = 0;
    /// 128 bits that nobody else has.
    virtual unique_id new_id() = 0;
    /// For jitter only.
    virtual std::uint64_t random() = 0;
    /// engine::run_due() is to be called no later than this. Called without the engine's mutex,
    /// often with a time that is already set or earlier than what turns out to be needed.
    virtual void wake_at(time_point when) = 0;
    /// Runs a callback of the user: here, or elsewhere if it must not block this thread.
    virtual void tell(const std::function<void()>& user_code) { user_code(); }
};

}  // namespace holdfast::core
