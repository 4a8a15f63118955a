#include "supervisor.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "children.hpp"
#include "duration.hpp"
#include "text.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

last_moments moments_for(const run_options& options) {
    const duration kill = std::clamp<duration>(options.ttl / 10, 1ms, 500ms);
    // Not earlier than at a third of the ttl: until then renewals are not late.
    const duration ask = std::max(kill, std::min(options.grace + kill, options.ttl / 3));
    return {kill / 2, kill, options.on_lost == loss_action::kill ? kill : ask};
}

supervisor::supervisor(const run_options& options, hold& held, signal_inbox& signals, terminal& tty)
    : options_(options),
      moments_(moments_for(options)),
      held_(held),
      signals_(signals),
      tty_(tty),
      news_of_lease_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      alarm_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (!news_of_lease_ || !alarm_) throw std::system_error(errno, std::generic_category(), "poll");
}

command_end supervisor::run(start_order order) {
    if (!held_.held()) {
        kill_all("before the command was started");
        return end_;
    }
    // If the guard is killed, what it looked after becomes ours.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    lends_terminal_ = tty_.hand_over_at_start();
    order.terminal = lends_terminal_ ? tty_.number() : -1;
    order.signals = signals_.descriptor_number();
    order.mask = signals_.original_mask();
    order.ignore_child_signal = signals_.child_signal_was_ignored();
    environment_ = order.environment;
    guard warden{order};
    guard_pid_ = warden.pid();
    held_.watch([news = news_of_lease_.number()] { ::eventfd_write(news, 1); });
    while (!over_) look_after(warden);
    if (end_.ended_by_us) end_descendants();
    tty_.take_back();
    if (end_.ended_by_us) tty_.restore_modes();
    return end_;
}

void supervisor::look_after(guard& warden) {
    on_time(warden);
    if (over_) return;
    // Signals wait until it is known to whom they go.
    const int signals = command_ != 0 ? signals_.descriptor_number() : -1;
    std::array<pollfd, 4> sources{{{warden.descriptor_number(), POLLIN, 0},
                                   {signals, POLLIN, 0},
                                   {news_of_lease_.number(), POLLIN, 0},
                                   {alarm_.number(), POLLIN, 0}}};
    ::poll(sources.data(), sources.size(), -1);
    eventfd_t count = 0;
    ::eventfd_read(news_of_lease_.number(), &count);
    std::uint64_t rings = 0;
    if ((sources[3].revents & POLLIN) != 0) {
        [[maybe_unused]] const ssize_t got = ::read(alarm_.number(), &rings, sizeof rings);
    }
    while (const auto told = warden.next()) on_report(*told);
    if (warden.is_gone() && !over_) on_guard_gone();
    if (!over_ && command_ != 0) on_signals();
}

void supervisor::on_guard_gone() {
    over_ = true;
    if (end_.exec_error != 0) return;
    // Somebody killed it, perhaps with the command's whole group. The kernel killed the command
    // then.
    end_.status = SIGKILL;
    complain("the guard process was killed, and the command with it");
    send(SIGKILL);
    end_descendants();
}

void supervisor::on_report(const guard_report& told) {
    switch (told.what) {
        case guard_report::type::started:
            command_ = told.value;
            end_.started = true;
            if (lends_terminal_) tty_.handed_to(command_);
            break;
        case guard_report::type::not_started:
            end_.exec_error = told.value;
            break;
        case guard_report::type::stopped:
            on_stop(told.value);
            break;
        case guard_report::type::overdue:
            end_.ended_by_us = true;
            complain(
                "this process was stopped and could not renew the lock: the command was killed");
            break;
        case guard_report::type::ended:
            end_.status = told.value;
            over_ = true;
            break;
        case guard_report::type::group_signal:
            // The neighbours in our group would have got it if the command were one of them. A stop
            // is passed on when the command really stops: it may think better of it.
            if (told.value == SIGTSTP) {
                group_stops_ = true;
            } else {
                ::kill(0, told.value);
            }
            break;
    }
}

void supervisor::on_stop(int signal) {
    const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (wants_terminal && tty_.is_ours()) {
        lends_terminal_ = true;
        tty_.hand_to(command_);
        send(SIGCONT);
        return;
    }
    tty_.take_back();
    using reach = signal_inbox::reach;
    const bool all = wants_terminal || (signal == SIGTSTP && group_stops_);
    group_stops_ = false;
    signals_.stop_self(signal, all ? reach::group : reach::process);
    on_continue();
}

void supervisor::on_continue() {
    // The command must not run a single instruction if the lock was lost while we were stopped.
    const bool in_time = boot_clock::now() < held_.expires_at() - moments_.kill;
    if (options_.on_lost != loss_action::ignore && (!held_.held() || !in_time)) {
        return kill_all("while we were stopped");
    }
    if (tty_.is_ours() && (lends_terminal_ || tty_.hand_over_at_start())) {
        lends_terminal_ = true;
        tty_.hand_to(command_);
    }
    send(SIGCONT);
}

void supervisor::on_signals() {
    while (!over_) {
        const auto info = signals_.next();
        if (!info) return;
        on_signal(static_cast<int>(info->ssi_signo));
    }
}

void supervisor::on_signal(int signal) {
    switch (signal) {
        case SIGCHLD:
            on_children();
            break;
        case SIGCONT:
            on_continue();
            break;
        case SIGTTIN:
        case SIGTTOU:
            break;  // meant for somebody in our group who reads or writes the terminal
        default:
            send(signal);
    }
}

void supervisor::on_children() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        // The guard is in the command's group, so whoever stopped the one stopped both.
        if (pid == guard_pid_ && WIFSTOPPED(status)) on_stop(SIGSTOP);
    }
}

void supervisor::on_time(guard& warden) {
    const time_point deadline = held_.expires_at();
    const bool lost = !held_.held();
    if (options_.on_lost == loss_action::ignore) {
        if (lost && !told_) complain(loss_text() + "; the command runs on without it");
        told_ = told_ || lost;
        return;
    }
    warden.set_deadline(deadline - moments_.guard_kills);
    const time_point now = boot_clock::now();
    if (lost || now >= deadline - moments_.kill) return kill_all("");
    if (stage_ == stage::running && command_ != 0 && now >= deadline - moments_.ask) ask(deadline);
    if (stage_ == stage::asked) return set_alarm(deadline - moments_.kill);
    // Renewals move the deadline; look again before the old one becomes urgent.
    const time_point look_again = deadline - options_.ttl / 2;
    set_alarm(look_again > now ? look_again : deadline - moments_.ask);
}

void supervisor::ask(time_point deadline) {
    stage_ = stage::asked;
    end_.ended_by_us = true;
    complain(fmt::format("the lock could not be renewed and ends in {}: asking the command to end",
                         format_duration(deadline - boot_clock::now())));
    if (options_.on_lost == loss_action::execute) {
        run_hook();
        return;
    }
    send(SIGTERM);
    send(SIGCONT);
}

void supervisor::run_hook() {
    std::string program = options_.hook;
    std::string pid = fmt::format("{}", command_);
    std::array<char*, 3> words{program.data(), pid.data(), nullptr};
    std::vector<char*> environment;
    for (std::string& each : environment_) environment.push_back(each.data());
    environment.push_back(nullptr);
    posix_spawnattr_t how;
    ::posix_spawnattr_init(&how);
    ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setsigmask(&how, &signals_.original_mask());
    pid_t hook = 0;
    const int failed =
        ::posix_spawnp(&hook, program.c_str(), nullptr, &how, words.data(), environment.data());
    ::posix_spawnattr_destroy(&how);
    if (failed != 0) {
        complain(fmt::format("cannot run '{}': {}; sending TERM instead", shown(program),
                             std::generic_category().message(failed)));
        send(SIGTERM);
        send(SIGCONT);
    }
}

std::string supervisor::loss_text() const {
    const loss_reason why = held_.loss();
    return why == loss_reason::none ? std::string{"the lock could not be renewed in time"}
                                    : fmt::format("the lock was lost ({})", to_string(why));
}

void supervisor::kill_all(std::string_view when) {
    stage_ = stage::killed;
    end_.ended_by_us = true;
    over_ = true;
    complain(fmt::format("{}{}{}{}", loss_text(), when.empty() ? "" : " ", when,
                         guard_pid_ != 0 ? ": killing the command" : ""));
    send(SIGKILL);
    end_descendants();
}

void supervisor::end_descendants() {
    if (guard_pid_ == 0) return;
    const time_point limit = boot_clock::now() + 5s;
    for (;;) {
        kill_children();
        int status = 0;
        pid_t pid = 0;
        while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid == command_) end_.status = status;
        }
        if (pid < 0) return;
        if (boot_clock::now() > limit) {
            return complain("a process that the command started could not be ended");
        }
        pollfd source{signals_.descriptor_number(), POLLIN, 0};
        ::poll(&source, 1, 10);
        while (signals_.next()) {
        }
    }
}

void supervisor::set_alarm(time_point when) {
    const auto at = std::max<std::int64_t>(when.time_since_epoch().count(), 1);
    itimerspec value{};
    value.it_value = {at / 1'000'000'000, at % 1'000'000'000};
    ::timerfd_settime(alarm_.number(), TFD_TIMER_ABSTIME, &value, nullptr);
}

void supervisor::send(int signal) const {
    if (command_ != 0) ::kill(-command_, signal);
}

}  // namespace holdfast::cli
