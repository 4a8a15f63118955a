#include "terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace holdfast::cli {

terminal::terminal()
    : tty_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)), own_group_(::getpgrp()) {
    if (!tty_) return;
    termios now{};
    if (::tcgetattr(tty_.number(), &now) == 0) modes_ = now;
}

bool terminal::is_ours() const noexcept {
    return tty_ && ::tcgetpgrp(tty_.number()) == own_group_;
}

bool terminal::hand_over_at_start() const noexcept {
    return is_ours() && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

void terminal::hand_to(pid_t group) noexcept {
    if (::tcsetpgrp(tty_.number(), group) == 0) lent_to_ = group;
}

void terminal::take_back() noexcept {
    if (lent_to_ == 0) return;
    // The foreground may be a group that the command made, as a shell does for its jobs, and that
    // died with it. It may also be the shell's that started us, which took it while we were
    // stopped.
    const pid_t now = ::tcgetpgrp(tty_.number());
    if (now == lent_to_ || (now > 0 && ::kill(-now, 0) != 0 && errno == ESRCH)) {
        ::tcsetpgrp(tty_.number(), own_group_);
    }
    lent_to_ = 0;
}

void terminal::restore_modes() noexcept {
    if (modes_ && is_ours()) ::tcsetattr(tty_.number(), TCSADRAIN, &*modes_);
}

}  // namespace holdfast::cli
