// The event loop of one client: turned by whoever waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>

#include <holdfast/export.hpp>
#include <holdfast/types.hpp>

namespace boost::asio {
class io_context;
}

namespace holdfast::runtime {

/// Something a thread can wait for, once. Must outlive the wait and the call that sets it.
struct signal {
    std::atomic<bool> is_set{false};
    // For the one who implements the wait, under its mutex:
    bool drives = false;           ///< the waiting thread drives the loop
    std::condition_variable wake;  ///< the waiting thread sleeps while another one drives
};

/// A blocked caller drives the loop itself when nobody else does; a thread of the loop's own
/// serves only while no caller is blocked, and is started the first time it is needed. At any
/// moment at most one thread runs handlers, so handlers need no locks among themselves. Safe from
/// several threads.
class HOLDFAST_EXPORT loop {
  public:
    loop();
    /// Stops. If called from one of its own handlers, what is running is finished elsewhere.
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    /// For this library's own plumbing; stores use watch, timer and stream (see there).
    [[gnu::visibility("hidden")]] boost::asio::io_context& io() noexcept;
    /// The same, and it stays, stopped, when the loop has gone. What the loop itself keeps, such as
    /// a handler, must not keep this.
    [[gnu::visibility("hidden")]] std::shared_ptr<boost::asio::io_context> shared_io()
        const noexcept;
    /// From now on the loop is served also when no caller is blocked and no time is set.
    [[gnu::visibility("hidden")]] void attend();

    /// Runs `work` in the loop, soon, never inside this call. What it throws is swallowed.
    void post(std::function<void()> work);

    /// The loop's one timer, on boot_clock: calls `due` no later than this, unless set again.
    /// An earlier time that is already set stays.
    void wake_at(time_point when);
    void on_due(std::function<void()> due);

    /// Ends the wait for it, from any thread. Once set it stays set.
    void set(signal& what);
    /// Blocks, driving the loop, until it is set or `limit` (boot_clock) has passed; true if set.
    bool wait(signal& what, time_point limit);

    /// True in a handler of this loop: then nothing may block.
    bool driving() const noexcept;

    /// No handler runs after this returns (unless called from one), and none ever again.
    void stop() noexcept;

  private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::runtime
