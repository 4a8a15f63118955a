#include "program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "duration.hpp"
#include "json.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "text.hpp"

namespace holdfast::cli {

void add_common(CLI::App& app, program& with) {
    with.opens_store = true;
    app.add_option("--store", with.store,
                   "The store: sqlite:PATH, a bare PATH, memory:, ... (default: $HOLDFAST_STORE, "
                   "else a file of your own)")
        ->type_name("URL");
    app.add_flag("--json", with.json, "Answer in JSON, one object on one line");
}

void check_name(std::string_view bytes) {
    if (bytes.empty()) throw usage_error("the name of a lock is empty; allowed: 1 to 255 bytes");
    if (bytes.size() > name_bytes_max) {
        throw usage_error(fmt::format("the name of a lock has {} bytes; allowed: 1 to {}",
                                      bytes.size(), name_bytes_max));
    }
}

void add_name(CLI::App& app, name_option& name) {
    app.add_option("NAME", name.text, "The name of the lock, 1 to 255 bytes");
    app.add_option("--lock-hex", name.hex, "The name as hexadecimal digits, two for a byte")
        ->type_name("HEX");
}

std::string name_option::bytes() const {
    if (text.empty() == hex.empty()) {
        throw usage_error("name one lock: NAME with 1 to 255 bytes, or --lock-hex HEX");
    }
    const std::optional<std::string> decoded = from_hex(hex);
    if (!decoded) {
        throw usage_error(fmt::format(
            "--lock-hex: '{}' is no name; allowed: pairs of hexadecimal digits", shown(hex)));
    }
    std::string out = hex.empty() ? text : *decoded;
    check_name(out);
    return out;
}

duration read_duration(const char* option, const std::string& text) {
    const auto read = parse_duration(text);
    if (const auto* why = std::get_if<duration_error>(&read)) {
        throw usage_error(fmt::format("{}: {}", option, describe(text, *why)));
    }
    return std::get<duration>(read);
}

/// Whether the URL names a user with a password: scheme://user:password@host.
static bool has_password(std::string_view url) {
    const std::size_t start = url.find("://");
    if (start == std::string_view::npos) return false;
    const std::string_view authority =
        url.substr(start + 3, url.find_first_of("/?#", start + 3) - start - 3);
    const std::size_t at = authority.rfind('@');
    return at != std::string_view::npos &&
           authority.substr(0, at).find(':') != std::string_view::npos;
}

std::string store_url(const program& with) {
    if (has_password(with.store)) {
        throw usage_error(
            "--store holds a password, and everybody on this machine can read command lines; "
            "put the URL into the environment variable HOLDFAST_STORE");
    }
    if (!with.store.empty()) return with.store;
    const char* named = std::getenv("HOLDFAST_STORE");
    return named == nullptr ? std::string{} : std::string{named};
}

result<client> try_open(const program& with, client_options options) {
    return client::try_open(store_url(with), std::move(options));
}

int code_for(errc why) noexcept {
    switch (why) {
        case errc::busy:
        case errc::not_held:
            return exit_code::conflict;
        case errc::timed_out:
            return exit_code::timed_out;
        case errc::lost:
            return exit_code::lost;
        case errc::invalid_argument:
        case errc::unsupported:
        case errc::mismatch:
        case errc::would_deadlock:
            return exit_code::usage;
        case errc::forked:
        case errc::cancelled:
            return exit_code::internal;
        case errc::outcome_unknown:
        case errc::unavailable:
        case errc::access_denied:
        case errc::bad_reply:
            return exit_code::store_failed;
    }
    return exit_code::internal;
}

void complain(std::string_view what) {
    write_all(STDERR_FILENO, fmt::format("holdfast: {}\n", what));
}

std::string describe(failure why, std::string_view name) {
    // The name is escaped here, in the way of this program.
    const std::string lock = std::exchange(why.lock, {});
    const std::string_view told = lock.empty() ? name : std::string_view{lock};
    return (told.empty() ? std::string{} : shown(told) + ": ") + shown(why.message());
}

ending fail(const program& with, const failure& why, std::string_view name) {
    complain(describe(why, name));
    if (with.json) print_json(STDOUT_FILENO, {{"error", to_json(why)}});
    return {code_for(why.code)};
}

void leave(const ending& end) noexcept {
    if (end.signal != 0) die_by(end.signal);
    ::_exit(end.code);
}

namespace {

ending ending_of(ending (*run)(int count, char** words), int count, char** words) noexcept {
    try {
        return run(count, words);
    } catch (const usage_error& wrong) {
        complain(wrong.what());
        return {exit_code::usage};
    } catch (const std::exception& failed) {
        complain(shown(failed.what()));
        return {exit_code::internal};
    }
}

}  // namespace

int run_guarded(ending (*run)(int count, char** words), int count, char** words) noexcept {
    const ending end = ending_of(run, count, words);
    if (end.signal != 0) leave(end);
    return end.code;
}

}  // namespace holdfast::cli
