// holdfast break: ends the hold of somebody else, if it is still the one that was seen.
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "duration.hpp"
#include "json.hpp"
#include "output.hpp"
#include "text.hpp"

namespace holdfast::cli {
namespace {

struct break_options {
    name_option name;
    std::string token;
    bool yes = false;
};

fencing_token read_token(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
        throw usage_error(fmt::format(
            "--token: '{}' is no token; allowed: the decimal number that holdfast show tells",
            shown(text)));
    }
    return fencing_token{value};
}

/// user@host and pid, for the store's audit trail.
std::string who_we_are() {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const passwd* const user = ::getpwuid(::getuid());
    const std::string name = user != nullptr ? user->pw_name : fmt::format("uid {}", ::getuid());
    return fmt::format("{}@{} pid {}", name, host.data(), ::getpid());
}

/// Asks on the terminal; without one, --yes is needed.
bool confirmed(client& from, const std::string& name, fencing_token token) {
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
        throw usage_error("nobody to ask: give --yes to break the lock without a question");
    }
    const result<lock_record> lock = from.show(name);
    std::string whose = "its holder";
    if (lock) {
        for (const holder_record& each : lock->holders) {
            if (each.token == token) whose = shown(each.owner);
        }
    }
    write_all(STDERR_FILENO,
              fmt::format(
                  "End the hold of {} on {} (token {})? Work that it guards may still run. [y/N] ",
                  whose, shown(name), token.value()));
    std::array<char, 64> answer{};
    const ssize_t length = ::read(STDIN_FILENO, answer.data(), answer.size());
    return length > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

ending break_hold(const program& with, const break_options& options) {
    const std::string name = options.name.bytes();
    const fencing_token token = read_token(options.token);
    result<client> from = try_open(with);
    if (!from) return fail(with, from.error());
    if (!options.yes && !confirmed(*from, name, token)) {
        complain("nothing was done");
        return {exit_code::conflict};
    }
    const std::string who = who_we_are();
    const result<holder_record> ended = from->evict(name, token, who);
    if (!ended) return fail(with, ended.error(), name);
    if (with.json) {
        boost::json::object out;
        put_name(out, name);
        out["ended"] = to_json(*ended);
        out["by"] = shown(who);
        print_json(STDOUT_FILENO, out);
        return {};
    }
    print(
        fmt::format("ended the hold of {} on {} (token {}, held for {}); it learns so at its next "
                    "renewal\nrecorded in the store's audit trail as done by {}\n",
                    shown(ended->owner), shown(name), ended->token.value(),
                    format_duration(ended->held_for), shown(who)));
    return {};
}

}  // namespace

void add_break(CLI::App& app, program& with) {
    auto options = std::make_shared<break_options>();
    add_name(app, options->name);
    app.add_option("--token", options->token,
                   "The token of the hold to end, as holdfast show tells it")
        ->type_name("TOKEN")
        ->required();
    app.add_flag("-y,--yes", options->yes, "Do not ask");
    add_common(app, with);
    with.action = [&with, options] { return break_hold(with, *options); };
}

}  // namespace holdfast::cli
