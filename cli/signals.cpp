#include "signals.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace holdfast::cli {
namespace {

constexpr std::array broken{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

sigset_t only(int signal) noexcept {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    return set;
}

}  // namespace

default_action default_action_of(int signal) noexcept {
    switch (signal) {
        case SIGCHLD:
        case SIGCONT:
        case SIGURG:
        case SIGWINCH:
            return default_action::nothing;
        case SIGSTOP:
        case SIGTSTP:
        case SIGTTIN:
        case SIGTTOU:
            return default_action::stop;
        default:
            return default_action::end;
    }
}

bool is_ignored(int signal) noexcept {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

signal_inbox::signal_inbox() : child_ignored_(is_ignored(SIGCHLD)) {
    sigset_t all;
    ::sigfillset(&all);
    for (const int signal : broken) ::sigdelset(&all, signal);
    ::pthread_sigmask(SIG_BLOCK, &all, &original_);
    // Whoever ignores SIGCHLD is never told how its children ended.
    if (child_ignored_) ::signal(SIGCHLD, SIG_DFL);
    inbox_ = descriptor{::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!inbox_) throw std::system_error(errno, std::generic_category(), "signalfd");
}

std::optional<signalfd_siginfo> signal_inbox::next() {
    signalfd_siginfo info{};
    const auto self = static_cast<std::uint32_t>(::getpid());
    while (::read(inbox_.number(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const bool own = info.ssi_code == SI_USER && info.ssi_pid == self;
        if (!own) return info;
    }
    return std::nullopt;
}

void signal_inbox::stop_self(int signal, reach how_far) {
    // It is blocked here, so it waits until the mask lets it through, and takes effect there and
    // then. (SIGSTOP cannot be blocked and takes effect at once.)
    ::kill(how_far == reach::group ? 0 : ::getpid(), signal);
    const sigset_t set = only(signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void die_by(int signal) noexcept {
    ::prctl(PR_SET_DUMPABLE, 0);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(signal, SIG_DFL);
    ::kill(::getpid(), signal);
    const sigset_t set = only(signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::_exit(128 + signal);
}

}  // namespace holdfast::cli
