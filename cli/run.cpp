// holdfast run: holds locks while a command runs.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <holdfast/multi_lock.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include "commands.hpp"
#include "duration.hpp"
#include "hold.hpp"
#include "json.hpp"
#include "output.hpp"
#include "run_parse.hpp"
#include "signals.hpp"
#include "supervisor.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "waiting.hpp"

namespace holdfast::cli {
namespace {

result<hold> as_hold(result<lease> taken) {
    if (!taken) return std::move(taken.error());
    return hold{*std::move(taken)};
}

result<hold> take(const client& from, const run_options& options, const std::stop_token& stop) {
    acquire_options how;
    how.wait = options.wait;
    how.ttl = options.ttl;
    how.stop = stop;
    how.label = options.label;
    // The command runs in another process: no thread of ours can wait for itself.
    how.owner = owner_id::nobody();
    const lock_options kind{options.next};
    const std::string& name = options.locks.front();
    if (options.locks.size() > 1) {
        result<multi_lease> taken = multi_lock{from, options.locks, kind}.try_acquire(how);
        if (!taken) return std::move(taken.error());
        return hold{*std::move(taken)};
    }
    if (options.permits) {
        const semaphore limited{from, name, options.permits->capacity, kind};
        return as_hold(limited.try_acquire(options.permits->wanted, how));
    }
    if (options.how == access::shared) {
        return as_hold(shared_mutex{from, name, kind}.try_acquire_shared(how));
    }
    return as_hold(mutex{from, name, kind}.try_acquire(how));
}

constexpr std::string_view lost_result = "lost";

/// What to tell about a run with --json; filled in as it goes.
struct summary {
    std::string_view result = "ended";
    std::vector<hold::named_token> tokens;
    duration waited{};
    duration held{};
};

class run_command {
  public:
    run_command(const program& with, run_options options)
        : with_(with), options_(std::move(options)), url_(store_url(with)) {}

    ending execute() {
        const ending end = hold_and_run();
        if (with_.json) tell(end);
        // A client is closed in an orderly way, which waits for what it is doing. If the lock was
        // lost, that may well be a request to a store that does not answer, and there is nothing
        // left to put in order.
        if (told_.result == lost_result) leave(end);
        return end;
    }

  private:
    ending hold_and_run();
    ending refuse(const failure& why);
    ending run_held();
    ending conclude(const command_end& command, const result<void>& released, loss_reason lost);
    ending not_started(int error);
    std::vector<std::string> environment() const;
    void tell(const ending& end) const;

    const program& with_;
    const run_options options_;
    const std::string url_;
    signal_inbox signals_;
    terminal tty_;
    std::optional<client> client_;
    result<hold> held_{failure{errc::cancelled}};
    summary told_;
};

ending run_command::hold_and_run() {
    using mode = waiting_view::mode;
    const bool live = ::isatty(STDERR_FILENO) == 1 && !options_.quiet;
    waiting_view view{options_.locks, live               ? mode::live
                                      : options_.verbose ? mode::once
                                                         : mode::off};
    const time_point start = boot_clock::now();
    const int signal = run_interruptibly(signals_, view, [&](const std::stop_token& stop) {
        result<client> opened = client::try_open(url_);
        if (!opened) {
            held_ = std::move(opened.error());
            return;
        }
        client_.emplace(*opened);
        view.ask(*client_);
        held_ = take(*client_, options_, stop);
    });
    told_.waited = boot_clock::now() - start;
    if (signal != 0) {
        told_.result = "signal";
        if (held_) static_cast<void>(held_->release());
        return {128 + signal, signal};
    }
    return held_ ? run_held() : refuse(held_.error());
}

ending run_command::refuse(const failure& why) {
    told_.result = name_of(why.code);
    int code = code_for(why.code);
    const bool conflict = why.code == errc::busy || why.code == errc::timed_out;
    if (conflict && options_.conflict_code) code = *options_.conflict_code;
    const bool one = options_.locks.size() == 1;
    complain(describe(why, one ? options_.locks.front() : std::string{}));
    return {code};
}

/// Something from which the command can read its token, as often as it likes.
descriptor token_file(std::string_view text) {
    descriptor file{::memfd_create("holdfast-token", MFD_CLOEXEC)};
    if (!file || !write_all(file.number(), text)) {
        throw std::system_error(errno, std::generic_category(), "memfd_create");
    }
    ::lseek(file.number(), 0, SEEK_SET);
    return file;
}

std::string token_lines(const std::vector<hold::named_token>& tokens) {
    std::string out;
    for (const auto& [name, token] : tokens)
        out += fmt::format("{}={}\n", shown(name), token.value());
    return out;
}

ending run_command::run_held() {
    hold& held = *held_;
    told_.tokens = held.tokens();
    if (options_.verbose) {
        std::string lines = token_lines(told_.tokens);
        std::replace(lines.begin(), lines.end() - 1, '\n', ' ');
        lines.pop_back();
        complain(fmt::format("holding {} after {}", lines, format_duration(told_.waited)));
    }
    start_order order;
    order.words = options_.command;
    order.environment = environment();
    descriptor token;
    if (options_.token_descriptor >= 0) {
        const bool one = told_.tokens.size() == 1;
        token = token_file(one ? fmt::format("{}\n", told_.tokens.front().token.value())
                               : token_lines(told_.tokens));
        order.token_source = token.number();
        order.token_target = options_.token_descriptor;
    }
    const time_point start = boot_clock::now();
    const command_end command = supervisor{options_, held, signals_, tty_}.run(std::move(order));
    told_.held = boot_clock::now() - start;
    const loss_reason lost = held.loss();
    const bool gone = command.ended_by_us && !held.held();
    return conclude(command, gone ? result<void>{} : held.release(), lost);
}

ending run_command::conclude(const command_end& command, const result<void>& released,
                             loss_reason lost) {
    if (command.exec_error != 0) return not_started(command.exec_error);
    const bool unnoticed = !released && released.error().code == errc::lost;
    if (command.ended_by_us || (unnoticed && options_.on_lost != loss_action::ignore)) {
        told_.result = lost_result;
        if (!command.ended_by_us) {
            const loss_reason why = lost != loss_reason::none ? lost : released.error().loss;
            complain(
                fmt::format("the command ended by itself, but its lock had been lost before ({})",
                            to_string(why)));
        }
        return {exit_code::lost};
    }
    if (!released && !unnoticed) {
        complain(
            fmt::format("the release is not certain, the hold may stay until its ttl is over: {}",
                        describe(released.error())));
    }
    if (WIFSIGNALED(command.status)) {
        told_.result = "signal";
        return {128 + WTERMSIG(command.status), WTERMSIG(command.status)};
    }
    return {WEXITSTATUS(command.status)};
}

ending run_command::not_started(int error) {
    told_.result = "not_started";
    complain(fmt::format("cannot run '{}': {}", shown(options_.command.front()),
                         std::generic_category().message(error)));
    return {error == ENOENT || error == ENOTDIR ? exit_code::not_found : exit_code::not_executable};
}

/// Ours, from a holdfast run around this one.
bool is_about_a_lock(std::string_view variable) {
    constexpr std::array<std::string_view, 7> names{
        "HOLDFAST_LOCK=",       "HOLDFAST_LOCK_HEX=", "HOLDFAST_TOKEN=", "HOLDFAST_TOKENS=",
        "HOLDFAST_EXPIRES_IN=", "HOLDFAST_DEADLINE=", "HOLDFAST_STORE="};
    return std::any_of(names.begin(), names.end(),
                       [variable](std::string_view name) { return variable.starts_with(name); });
}

std::vector<std::string> run_command::environment() const {
    std::vector<std::string> out;
    for (char** each = environ; *each != nullptr; ++each) {
        if (!is_about_a_lock(*each)) out.emplace_back(*each);
    }
    const auto& [name, token] = told_.tokens.front();
    if (name.find('\0') == std::string::npos) out.push_back("HOLDFAST_LOCK=" + name);
    out.push_back("HOLDFAST_LOCK_HEX=" + to_hex(name));
    out.push_back(fmt::format("HOLDFAST_TOKEN={}", token.value()));
    std::string lines = token_lines(told_.tokens);
    lines.pop_back();
    out.push_back("HOLDFAST_TOKENS=" + lines);
    const time_point deadline = held_->expires_at();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - boot_clock::now());
    out.push_back(
        fmt::format("HOLDFAST_EXPIRES_IN={}.{:03}", left.count() / 1000, left.count() % 1000));
    out.push_back(fmt::format("HOLDFAST_DEADLINE={}", deadline.time_since_epoch().count()));
    out.push_back("HOLDFAST_STORE=" + (url_.empty() ? client_->where() : url_));
    return out;
}

void run_command::tell(const ending& end) const {
    boost::json::array locks;
    for (const auto& [name, token] : told_.tokens) {
        boost::json::object lock;
        put_name(lock, name);
        lock["token"] = to_json(token);
        locks.push_back(std::move(lock));
    }
    boost::json::object line;
    line["result"] = told_.result;
    line["exit_code"] = end.code;
    line["signal"] = end.signal != 0 ? boost::json::value(end.signal) : boost::json::value(nullptr);
    line["locks"] = std::move(locks);
    line["waited_ms"] = to_json(told_.waited);
    line["held_ms"] = to_json(told_.held);
    print_json(STDERR_FILENO, line);
}

}  // namespace

void add_run(CLI::App& app, program& with) {
    auto words = std::make_shared<run_words>();
    define_run(app, *words);
    add_common(app, with);
    with.action = [&app, &with, words]() -> ending {
        const ending end = run_command{with, read_run(*words, app.remaining())}.execute();
        // All that is left is memory. To free it piece by piece costs, after a fork, a page fault
        // for each page: a third of a millisecond at the end of every command.
        leave(end);
    };
}

}  // namespace holdfast::cli
