// The guard: a small process between this one and the command.
//
//     holdfast run ── guard ── command ── whatever it starts
//
// It is the command's parent and a member of its process group. It is there for three things:
//  - When this process dies, also by kill -9, the guard kills everything below itself. It still has
//    this process's descriptors, so a store that ends holds when their process is gone (such as
//    sqlite:) ends them only after that.
//  - When this process is stopped and cannot renew, the guard kills everything below itself at the
//    deadline that was left for it. The command never runs on without the lock.
//  - As a member of the foreground group it sees what the terminal sends to the command, so this
//    process can pass it on to the neighbours in its own group (a script's shell, a pipeline).
// If the guard itself is killed, the command is killed too (PR_SET_PDEATHSIG).
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/types.hpp>

#include "descriptor.hpp"

namespace holdfast::cli {

/// What to start and how. Everything is made ready before the guard is forked, because this process
/// has threads and between fork and exec nothing may allocate.
struct start_order {
    std::vector<std::string> words;        ///< the program and its arguments
    std::vector<std::string> environment;  ///< all of it
    int terminal = -1;                     ///< make the command its foreground group
    int token_source = -1;                 ///< descriptor that the command gets as `token_target`
    int token_target = -1;
    sigset_t mask{};  ///< as this process got it
    bool ignore_child_signal = false;
    int signals = -1;  ///< a signalfd with every signal
};

/// What the guard says.
struct guard_report {
    enum class type : std::int32_t {
        started,      ///< value: the pid of the command, also its process group
        not_started,  ///< value: errno of exec
        stopped,      ///< value: the signal that stopped the command
        ended,        ///< value: the command's status, as waitpid gives it
        overdue,      ///< the deadline passed; the guard is killing the command
        group_signal  ///< value: a signal that the command's whole group got, not from us
    };
    type what{};
    std::int32_t value = 0;
};

class guard {
  public:
    /// Forks. Throws std::system_error if that fails.
    explicit guard(const start_order& order);
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard();

    pid_t pid() const noexcept { return pid_; }
    int descriptor_number() const noexcept { return channel_.number(); }
    /// The next report; nothing when there is none now or will never be again (`is_gone`).
    std::optional<guard_report> next();
    bool is_gone() const noexcept { return gone_; }

    /// Until when the guard lets the command live if this process does nothing.
    void set_deadline(time_point when) noexcept;

  private:
    struct shared_page;
    shared_page* page_ = nullptr;
    descriptor channel_;
    pid_t pid_ = 0;
    bool gone_ = false;
};

}  // namespace holdfast::cli
