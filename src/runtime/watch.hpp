// Descriptors that the loop looks after for a store. Asio itself stays inside libholdfast: two
// libraries with a copy each would not know each other's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <holdfast/export.hpp>

namespace holdfast::runtime {

class loop;

enum class readiness : std::uint8_t {
    readable,
    error,  ///< for the write end of a FIFO: nobody reads it any more
};

/// Calls `ready` in the loop once when the descriptor is so, and once more for each again(). The
/// descriptor is not owned; it must stay open until the watch is destroyed. A call under way is not
/// waited for. Safe from several threads.
class HOLDFAST_EXPORT watch {
  public:
    watch(loop& in, int descriptor, readiness until, std::function<void()> ready);
    ~watch();
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    void again();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::runtime
