// A timer that goes on while the machine is suspended, which Asio's own do not.
#pragma once

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <holdfast/types.hpp>

namespace holdfast::runtime {

/// Keeps no more than the kernel does: one setting, which take() finds when it is due. Setting and
/// taking are safe from several threads; waiting and closing need the owner's mutex.
class boot_timer {
  public:
    explicit boot_timer(boost::asio::io_context& io) : descriptor_(io, open()) {}

    /// Replaces what was set, also if that is due and was not taken.
    void arm(time_point when) noexcept {
        const auto since_boot = std::max<duration>(when.time_since_epoch(), duration{1});
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
        itimerspec at{};
        at.it_value.tv_sec = seconds.count();
        at.it_value.tv_nsec = (since_boot - seconds).count();
        set(at);
    }
    void disarm() noexcept { set(itimerspec{}); }

    /// Calls back once when it may be due. What is set later counts as well.
    template <class Handler>
    void async_wait(Handler&& handler) {
        descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                               std::forward<Handler>(handler));
    }

    /// True once for each setting that became due.
    bool take() noexcept {
        std::uint64_t fired = 0;
        return ::read(descriptor_.native_handle(), &fired, sizeof fired) == sizeof fired;
    }

    bool is_open() const noexcept { return descriptor_.is_open(); }
    void close() noexcept {
        boost::system::error_code ignored;
        descriptor_.close(ignored);
    }

  private:
    static int open() {
        const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
        if (fd < 0) throw std::system_error(errno, std::system_category(), "timerfd_create");
        return fd;
    }
    void set(const itimerspec& at) noexcept {
        ::timerfd_settime(descriptor_.native_handle(), TFD_TIMER_ABSTIME, &at, nullptr);
    }

    boost::asio::posix::stream_descriptor descriptor_;
};

}  // namespace holdfast::runtime
