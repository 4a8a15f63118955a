// The controlling terminal, and which process group has it in the foreground.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "descriptor.hpp"

namespace holdfast::cli {

/// Signals that the kernel sends to background writers must be blocked (see signal_inbox): this
/// class moves the foreground from whichever side it is on.
class terminal {
  public:
    /// Looks for the controlling terminal; there may be none.
    terminal();

    int number() const noexcept { return tty_.number(); }
    /// This process's group has the foreground.
    bool is_ours() const noexcept;
    /// Whether the command should get the foreground from its start. Yes if this process has it and
    /// talks to the terminal on both sides. Not in a pipeline such as `holdfast run ... | less`,
    /// where a neighbour needs the terminal; there the command gets it once it asks for it.
    bool hand_over_at_start() const noexcept;

    /// Remembers that `group` was or is being made the foreground group.
    void handed_to(pid_t group) noexcept { lent_to_ = group; }
    void hand_to(pid_t group) noexcept;
    bool is_lent() const noexcept { return lent_to_ != 0; }
    /// Makes this process's group the foreground group again, if the terminal was handed over.
    void take_back() noexcept;

    /// Back to the modes of the start: for a command that had no chance to do it itself.
    void restore_modes() noexcept;

  private:
    descriptor tty_;
    pid_t own_group_ = 0;
    pid_t lent_to_ = 0;
    std::optional<termios> modes_;
};

}  // namespace holdfast::cli
