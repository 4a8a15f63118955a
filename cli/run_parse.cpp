// The options of `holdfast run`: their definition, and how texts become run_options.
#include "run_parse.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "text.hpp"

namespace holdfast::cli {
namespace {

constexpr std::uint32_t capacity_max = 1'000'000;
constexpr std::size_t locks_max = 100;

std::vector<std::string> read_names(const run_words& words) {
    std::vector<std::string> out = words.locks;
    for (const std::string& digits : words.locks_hex) {
        const std::optional<std::string> bytes = from_hex(digits);
        if (!bytes) {
            throw usage_error(
                fmt::format("--lock-hex: '{}' is no name; allowed: pairs of hexadecimal digits",
                            shown(digits)));
        }
        out.push_back(*bytes);
    }
    for (const std::string& each : out) check_name(each);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.empty()) throw usage_error("which lock? --lock NAME is missing");
    if (out.size() > locks_max) {
        throw usage_error(fmt::format("{} locks at once; allowed: 1 to {}", out.size(), locks_max));
    }
    return out;
}

template <class Number>
bool read_number(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

permit_count read_permits(const std::string& text) {
    permit_count out;
    const std::size_t slash = text.find('/');
    const bool read = slash != std::string::npos &&
                      read_number(std::string_view{text}.substr(0, slash), out.wanted) &&
                      read_number(std::string_view{text}.substr(slash + 1), out.capacity);
    if (!read || out.wanted == 0 || out.wanted > out.capacity || out.capacity > capacity_max) {
        throw usage_error(fmt::format(
            "--permits: '{}' is not N/M, N permits of M in all; allowed: 1 <= N <= M <= {}",
            shown(text), capacity_max));
    }
    return out;
}

void read_loss_action(const std::string& text, run_options& into) {
    constexpr std::string_view execute = "exec:";
    if (text == "term") {
        into.on_lost = loss_action::terminate;
    } else if (text == "kill") {
        into.on_lost = loss_action::kill;
    } else if (text == "ignore") {
        into.on_lost = loss_action::ignore;
    } else if (text.starts_with(execute) && text.size() > execute.size()) {
        into.on_lost = loss_action::execute;
        into.hook = text.substr(execute.size());
    } else {
        throw usage_error(fmt::format(
            "--on-lost: '{}' is unknown; allowed: term, kill, ignore, exec:PROGRAM", shown(text)));
    }
}

void read_times(const run_words& words, run_options& into) {
    if (words.no_wait && words.wait)
        throw usage_error("-n (no wait) and --wait exclude each other");
    if (words.no_wait) into.wait = duration::zero();
    if (words.wait) into.wait = read_duration("--wait", *words.wait);
    if (words.ttl) into.ttl = read_duration("--ttl", *words.ttl);
    if (into.ttl <= duration::zero() || into.ttl == forever) {
        throw usage_error(
            "--ttl: a hold needs an end; allowed: more than zero, less than for ever");
    }
    if (!words.grace) return;
    into.grace = read_duration("--grace", *words.grace);
    if (into.grace > into.ttl / 3) {
        throw usage_error(
            fmt::format("--grace: '{}' is too long; allowed: up to a third of the ttl, since "
                        "before that renewal "
                        "is not late",
                        shown(*words.grace)));
    }
}

int read_conflict_code(const std::string& text) {
    int code = 0;
    if (!read_number(text, code) || code < 0 || code > 255) {
        throw usage_error(fmt::format("-E: '{}' is no exit code; allowed: 0 to 255", shown(text)));
    }
    return code;
}

int read_descriptor(const std::string& text) {
    int number = 0;
    if (!read_number(text, number) || number < 3 || number > 1023) {
        throw usage_error(fmt::format(
            "--token-fd: '{}' is no descriptor for the command; allowed: 3 to 1023", shown(text)));
    }
    if (::fcntl(number, F_GETFD) >= 0) {
        throw usage_error(fmt::format("--token-fd: descriptor {} is open already", number));
    }
    return number;
}

/// What stands after the options. CLI11 hands on everything from the first word that it does not
/// know, and also options that it does not know.
std::vector<std::string> read_command(const run_words& words, std::vector<std::string> rest) {
    const bool marked = !rest.empty() && rest.front() == "--";
    if (!marked && !rest.empty() && rest.front().starts_with('-') && rest.front() != "-") {
        throw usage_error(
            fmt::format("there is no option {} (see holdfast run --help)", shown(rest.front())));
    }
    if (marked) rest.erase(rest.begin());
    if (words.script) {
        if (!rest.empty()) throw usage_error("-c STRING and a COMMAND exclude each other");
        const char* shell = std::getenv("SHELL");
        const bool named = shell != nullptr && *shell != '\0';
        return {named ? shell : "/bin/sh", "-c", *words.script};
    }
    if (rest.empty() || rest.front().empty()) throw usage_error("run what? a COMMAND is missing");
    return rest;
}

void check_together(const run_words& words, const run_options& read) {
    if (words.no_fork) {
        throw usage_error(
            "-F (no fork) cannot be had: a hold lives only while somebody renews it, so holdfast "
            "stays beside the command");
    }
    if (words.shared && words.exclusive) throw usage_error("-s (shared) and -x exclude each other");
    if (words.shared && read.permits)
        throw usage_error("--shared and --permits exclude each other");
    if (read.locks.size() > 1 && (words.shared || read.permits)) {
        throw usage_error(
            "several locks at once are exclusive; --shared and --permits take one --lock");
    }
    if (words.quiet && words.verbose) throw usage_error("--quiet and --verbose exclude each other");
}

}  // namespace

void define_run(CLI::App& app, run_words& words) {
    app.prefix_command();
    app.footer(
        "The options end where COMMAND begins, or at --:\n"
        "  holdfast run --lock NAME [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
        "It ends with the exit code of the command; its own codes begin at 193.");
    // Without allow_extra_args CLI11 would take every following word for a name as well.
    app.add_option("-l,--lock", words.locks,
                   "The lock to hold; repeat it to hold several, all or none")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_option("--lock-hex", words.locks_hex, "The same as hexadecimal digits, for any bytes")
        ->type_name("HEX")
        ->allow_extra_args(false);
    app.add_flag("-s,--shared", words.shared, "Hold it together with other shared holders");
    app.add_flag("-x,-e,--exclusive", words.exclusive, "Hold it alone (the default)");
    app.add_option("--permits", words.permits, "Hold N of M permits (a semaphore)")
        ->type_name("N/M");
    app.add_option("-w,--wait,--timeout", words.wait, "Wait at most so long (default: for ever)")
        ->type_name("DURATION");
    app.add_flag("-n,--no-wait,--nonblock,--nb", words.no_wait, "Do not wait");
    app.add_option("--ttl", words.ttl,
                   "How long the store keeps the hold if renewal stops (default: 30s)")
        ->type_name("DURATION");
    app.add_flag("--fair", words.fair, "Strictly in the order of arrival");
    app.add_option("--label", words.label, "Shown to others beside host and pid")
        ->type_name("TEXT");
    app.add_option("--on-lost", words.on_lost,
                   "When the lock is about to be lost: term (default), kill, ignore, exec:PROGRAM")
        ->type_name("ACTION");
    app.add_option("--grace", words.grace,
                   "Time between TERM and KILL then (default: 5s, or less if the ttl is short)")
        ->type_name("DURATION");
    app.add_option("-E,--conflict-exit-code", words.conflict_code,
                   "The exit code if the lock cannot be had (default: 193 busy, 194 timed out)")
        ->type_name("CODE");
    app.add_option("--token-fd", words.token_descriptor,
                   "The command can read its token from this descriptor")
        ->type_name("NUMBER");
    app.add_option("-c,--command", words.script, "Run this with $SHELL instead of a COMMAND")
        ->type_name("STRING");
    app.add_flag("-o,--close", words.close,
                 "As with flock; always so: what the command leaves behind keeps no lock");
    app.add_flag("-F,--no-fork", words.no_fork, "Refused: a hold needs somebody who renews it");
    app.add_flag("-q,--quiet", words.quiet, "No view of waiting on a terminal");
    app.add_flag("-v,--verbose", words.verbose,
                 "Tell about waiting and holding also without a terminal");
}

run_options read_run(const run_words& words, std::vector<std::string> rest) {
    run_options out;
    out.command = read_command(words, std::move(rest));
    out.locks = read_names(words);
    out.how = words.shared ? access::shared : access::exclusive;
    if (words.permits) out.permits = read_permits(*words.permits);
    read_times(words, out);
    out.next = words.fair ? order::fair : order::standard;
    out.label = words.label;
    if (words.on_lost) read_loss_action(*words.on_lost, out);
    if (words.conflict_code) out.conflict_code = read_conflict_code(*words.conflict_code);
    if (words.token_descriptor) out.token_descriptor = read_descriptor(*words.token_descriptor);
    out.quiet = words.quiet;
    out.verbose = words.verbose;
    check_together(words, out);
    return out;
}

}  // namespace holdfast::cli
