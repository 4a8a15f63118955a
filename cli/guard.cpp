#include "guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <new>
#include <system_error>

#include "children.hpp"

// Everything that runs in the guard or in the command before exec is a copy of one thread of a
// process that had several. It may call only what is async-signal-safe, so: no memory, no locks, no
// exceptions, no library. _Fork does not run the handlers with which libraries close in a forked
// child what belongs to the parent; that the guard keeps those descriptors is what it is for.

namespace holdfast::cli {

struct guard::shared_page {
    std::atomic<std::int64_t> deadline{std::numeric_limits<std::int64_t>::max()};
};

namespace {

static_assert(std::atomic<std::int64_t>::is_always_lock_free, "shared between processes");

/// What both processes after the fork need, in the form that system calls take.
struct plan {
    const char* const* words;
    const char* const* environment;
    const start_order* order;
    const std::atomic<std::int64_t>* deadline;
    int channel;
    int joined = -1;  ///< an eventfd: the guard is a member of the command's group
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> out;
    out.reserve(texts.size() + 1);
    for (const std::string& each : texts) out.push_back(each.c_str());
    out.push_back(nullptr);
    return out;
}

void report(int channel, guard_report::type what, int value) noexcept {
    const guard_report message{what, value};
    ::send(channel, &message, sizeof message, MSG_NOSIGNAL);
}

/// In the command's process: becomes the command.
[[noreturn]] void become_command(const plan& to, pid_t parent) noexcept {
    const start_order& order = *to.order;
    ::setpgid(0, 0);
    // Signals are still blocked, so moving the foreground from a background group stops nobody.
    if (order.terminal >= 0) ::tcsetpgrp(order.terminal, ::getpid());
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    // Before that the guard would miss what the command sends to its group.
    eventfd_t count = 0;
    ::eventfd_read(to.joined, &count);
    if (order.token_target >= 0) ::dup2(order.token_source, order.token_target);
    if (order.ignore_child_signal) ::signal(SIGCHLD, SIG_IGN);
    ::sigprocmask(SIG_SETMASK, &order.mask, nullptr);
    // exec takes pointers to what it does not change; the C interface cannot say so.
    ::execvpe(to.words[0], const_cast<char* const*>(to.words),
              const_cast<char* const*>(to.environment));
    report(to.channel, guard_report::type::not_started, errno);
    ::_exit(127);
}

/// The guard's own life.
class warden {
  public:
    warden(const plan& to, pid_t parent, pid_t command) noexcept
        : to_(to), parent_(parent), command_(command) {}

    [[noreturn]] void run() noexcept {
        ::prctl(PR_SET_NAME, "holdfast-guard");
        timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        for (;;) {
            if (!arm()) {
                report(to_.channel, guard_report::type::overdue, 0);
                end_everything();
            }
            std::array<pollfd, 3> sources{
                {{to_.order->signals, POLLIN, 0}, {to_.channel, POLLIN, 0}, {timer_, POLLIN, 0}}};
            ::poll(sources.data(), sources.size(), -1);
            read_signals();
            reap(true);
            if ((sources[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
                // Nobody ever writes to us: the other end is closed, the parent is dead.
                end_everything();
            }
        }
    }

  private:
    /// Sets the alarm to the deadline as it now is; false if that has passed.
    bool arm() noexcept {
        const std::int64_t deadline = to_.deadline->load(std::memory_order_relaxed);
        if (deadline == std::numeric_limits<std::int64_t>::max()) return true;
        timespec now{};
        ::clock_gettime(CLOCK_BOOTTIME, &now);
        if (now.tv_sec * 1'000'000'000 + now.tv_nsec >= deadline) return false;
        itimerspec when{};
        when.it_value = {deadline / 1'000'000'000, deadline % 1'000'000'000};
        ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
        return true;
    }

    void read_signals() noexcept {
        signalfd_siginfo info{};
        while (::read(to_.order->signals, &info, sizeof info) ==
               static_cast<ssize_t>(sizeof info)) {
            const auto signal = static_cast<int>(info.ssi_signo);
            if (concerns_neighbours(signal, info)) {
                report(to_.channel, guard_report::type::group_signal, signal);
            }
        }
    }

    /// What would have reached the parent's process group too, if the command were a member of it:
    /// what is typed on the terminal, and a stop of all from wherever it comes, since a group that
    /// is stopped in part only leaves a shell waiting for the rest.
    bool concerns_neighbours(int signal, const signalfd_siginfo& info) const noexcept {
        if (signal == SIGTSTP) return info.ssi_pid != static_cast<std::uint32_t>(parent_);
        const bool typed = signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
        return typed && info.ssi_code == SI_KERNEL;
    }

    /// Hears how children fare, including orphans that came to us. False when there are none.
    bool reap(bool leave_when_ended) noexcept {
        int status = 0;
        pid_t pid = 0;
        while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
            if (pid != command_) continue;
            if (WIFSTOPPED(status)) {
                // If the signal went to the whole group, it is on its way to us as well, and must
                // be told first. To the kernel setpgid is a barrier: it returns after signals to
                // groups that are being delivered.
                ::setpgid(0, command_);
                read_signals();
                report(to_.channel, guard_report::type::stopped, WSTOPSIG(status));
                continue;
            }
            status_ = status;
            // Not if the parent died first. That may well be why the command ended: the kernel
            // sends SIGHUP to a stopped group that nobody is left to continue.
            if (leave_when_ended && ::getppid() == parent_) leave();
        }
        return pid == 0;
    }

    [[noreturn]] void leave() noexcept {
        report(to_.channel, guard_report::type::ended, status_);
        ::_exit(0);
    }

    /// Kills all that descends from us and returns, or reports, when nothing of it is left.
    [[noreturn]] void end_everything() noexcept {
        bool listed = true;
        do {
            listed = kill_children();
            if (!listed) ::kill(command_, SIGKILL);
            // A child that may not be killed (it changed its user) is asked again now and then.
            pollfd source{to_.order->signals, POLLIN, 0};
            ::poll(&source, 1, 10);
            signalfd_siginfo info{};
            while (::read(to_.order->signals, &info, sizeof info) > 0) {
            }
        } while (reap(false));
        leave();
    }

    const plan& to_;
    pid_t parent_;
    pid_t command_;
    int status_ = 0;
    int timer_ = -1;
};

[[noreturn]] void guard_main(plan to, pid_t parent) noexcept {
    to.joined = ::eventfd(0, EFD_CLOEXEC);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t self = ::getpid();
    const pid_t command = ::_Fork();
    if (command == 0) become_command(to, self);
    if (command < 0) {
        report(to.channel, guard_report::type::not_started, errno);
        ::_exit(1);
    }
    // Both sides do it, since either may be first. The guard joins the group it watches; while it
    // is in there, the group's number cannot come to mean anybody else.
    ::setpgid(command, command);
    ::setpgid(0, command);
    ::eventfd_write(to.joined, 1);
    report(to.channel, guard_report::type::started, command);
    warden{to, parent, command}.run();
}

}  // namespace

guard::guard(const start_order& order) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    channel_ = descriptor{ends[0]};
    const descriptor theirs{ends[1]};
    void* const page = ::mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    page_ = new (page) shared_page;
    const std::vector<const char*> words = pointers(order.words);
    const std::vector<const char*> environment = pointers(order.environment);
    const plan to{words.data(), environment.data(), &order, &page_->deadline, ends[1]};
    const pid_t self = ::getpid();
    pid_ = ::_Fork();
    if (pid_ == 0) {
        ::close(ends[0]);
        guard_main(to, self);
    }
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

guard::~guard() {
    ::munmap(page_, sizeof(shared_page));
}

std::optional<guard_report> guard::next() {
    guard_report message{};
    const ssize_t length = ::recv(channel_.number(), &message, sizeof message, MSG_DONTWAIT);
    if (length == static_cast<ssize_t>(sizeof message)) return message;
    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) gone_ = true;
    return std::nullopt;
}

void guard::set_deadline(time_point when) noexcept {
    page_->deadline.store(when.time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace holdfast::cli
