// Looks after the command while it runs: its signals, its stops, the terminal, and the lease.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "descriptor.hpp"
#include "guard.hpp"
#include "hold.hpp"
#include "run_options.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

/// How the command ended.
struct command_end {
    bool started = false;
    int exec_error = 0;        ///< errno, if it could not be started
    int status = 0;            ///< as waitpid gives it
    bool ended_by_us = false;  ///< asked or killed because of the lock
};

class supervisor {
  public:
    supervisor(const run_options& options, hold& held, signal_inbox& signals, terminal& tty);

    /// Starts the command and returns when it has ended. Throws std::system_error if no process can
    /// be made.
    command_end run(start_order order);

  private:
    enum class stage { running, asked, killed };

    void look_after(guard& warden);
    void on_guard_gone();
    void on_report(const guard_report& told);
    void on_stop(int signal);
    void on_continue();
    void on_signals();
    void on_signal(int signal);
    void on_children();
    /// Does what is due for the lease and sets the alarm for what is due next.
    void on_time(guard& warden);
    void ask(time_point deadline);
    void run_hook();
    /// Kills the command and everything below it at once.
    void kill_all(std::string_view when);
    void end_descendants();
    std::string loss_text() const;
    void set_alarm(time_point when);
    void send(int signal) const;

    const run_options& options_;
    const last_moments moments_;
    hold& held_;
    signal_inbox& signals_;
    terminal& tty_;
    descriptor news_of_lease_;
    descriptor alarm_;
    std::vector<std::string> environment_;
    bool group_stops_ = false;     ///< the stop that comes is one of the command's whole group
    bool lends_terminal_ = false;  ///< the command has or had the foreground
    bool told_ = false;            ///< of the loss
    pid_t guard_pid_ = 0;
    pid_t command_ = 0;  ///< also its process group
    stage stage_ = stage::running;
    bool over_ = false;
    command_end end_;
};

}  // namespace holdfast::cli
