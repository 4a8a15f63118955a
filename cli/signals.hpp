// Signals as messages: all are blocked and read from a descriptor, so there is no handler and no
// race. Dispositions stay as they were inherited, for the command to inherit in turn.
#pragma once

#include <sys/signalfd.h>

#include <csignal>
#include <optional>

#include "descriptor.hpp"

namespace holdfast::cli {

/// What a signal does to a process that does nothing about it.
enum class default_action { end, stop, nothing };
default_action default_action_of(int signal) noexcept;

/// From its construction on no signal interrupts this process, except those that mean that it is
/// broken (SIGSEGV and its like). Make it before the first thread. One per process.
class signal_inbox {
  public:
    signal_inbox();
    signal_inbox(const signal_inbox&) = delete;
    signal_inbox& operator=(const signal_inbox&) = delete;
    /// Does not let signals through again: one that came too late must not change how we end.
    ~signal_inbox() = default;

    /// Readable when a signal has come.
    int descriptor_number() const noexcept { return inbox_.number(); }
    /// The next signal, if any. Signals that this process sent to itself are left out: it sends
    /// them to its process group, for the others in it.
    std::optional<signalfd_siginfo> next();

    /// As it was before; for the command.
    const sigset_t& original_mask() const noexcept { return original_; }
    bool child_signal_was_ignored() const noexcept { return child_ignored_; }

    /// Stops this process, with its whole process group if asked to, and returns when it goes on.
    /// Does nothing if the signal was ignored from the start or if nobody could make this process
    /// go on again (an orphaned group).
    enum class reach { process, group };
    void stop_self(int signal, reach how_far);

  private:
    sigset_t original_{};
    bool child_ignored_ = false;
    descriptor inbox_;
};

/// True if this signal was already ignored when the program started, as nohup does with SIGHUP.
bool is_ignored(int signal) noexcept;

/// Ends this process by the signal, without a core dump, so that whoever waits for it sees what
/// happened; where that is impossible (process 1 of a container), exits with 128+signal.
[[noreturn]] void die_by(int signal) noexcept;

}  // namespace holdfast::cli
