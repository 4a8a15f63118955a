// Timers for stores, beside the loop's one, which is the core's.
#pragma once

#include <functional>
#include <memory>

#include <holdfast/export.hpp>
#include <holdfast/types.hpp>

namespace holdfast::runtime {

class loop;

/// One timer of a store, on boot_clock. From its first moment on the loop is served, also while no
/// caller is blocked. Destroying it cancels; a call under way is not waited for. Safe from several
/// threads. Costs a file descriptor; setting it, a system call.
class HOLDFAST_EXPORT timer {
  public:
    /// `due` runs in the loop, once for each setting that was neither replaced nor cancelled before
    /// it was due. What it throws is swallowed. It must not own the timer.
    timer(loop& in, std::function<void()> due);
    ~timer();
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// Replaces an earlier setting. A time that has passed is due at once.
    void set(time_point when) noexcept;
    void cancel() noexcept;

  private:
    struct state;
    std::shared_ptr<void> loop_;  ///< outlives the state
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::runtime
