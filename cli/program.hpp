// What all commands share: options, exit codes, errors.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include <holdfast/client.hpp>
#include <holdfast/result.hpp>

namespace CLI {  // NOLINT(readability-identifier-naming): the name is theirs
class App;
}

namespace holdfast::cli {

/// How the program ends when it does not pass on the exit code of a command. The numbers from 193
/// on are above every 128+signal and below those that systemd reserves; see docs/reference/cli.md.
struct exit_code {
    static constexpr int ok = 0;
    static constexpr int warnings = 1;  ///< doctor only
    static constexpr int errors = 2;    ///< doctor only
    static constexpr int not_executable = 126;
    static constexpr int not_found = 127;
    static constexpr int conflict = 193;
    static constexpr int timed_out = 194;
    static constexpr int store_failed = 195;
    static constexpr int lost = 196;
    static constexpr int usage = 197;
    static constexpr int internal = 198;
};

/// What the program ends with: by a signal if one is named, else with the code.
struct ending {
    int code = exit_code::ok;
    int signal = 0;
};

/// The command line is wrong. The text says what, and what is allowed.
class usage_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What is common to all commands, and what the chosen one does.
struct program {
    std::string store;  ///< as given with --store; empty: the environment or the default
    bool json = false;
    bool opens_store = false;  ///< the command has --store
    std::function<ending()> action;
};

/// Adds --store and --json.
void add_common(CLI::App& app, program& with);

/// A lock named on the command line, as text or in hexadecimal.
struct name_option {
    std::string text;
    std::string hex;
    /// The bytes of the name. Throws usage_error.
    std::string bytes() const;
};
/// Adds the argument NAME and --lock-hex.
void add_name(CLI::App& app, name_option& name);
/// Refuses what is no lock name. Throws usage_error.
void check_name(std::string_view bytes);

/// Reads the value of an option; throws usage_error that names the option.
duration read_duration(const char* option, const std::string& text);

/// The URL that counts: --store, else HOLDFAST_STORE, else empty. Throws usage_error if --store
/// holds a password, which every user of the machine could read.
std::string store_url(const program& with);
result<client> try_open(const program& with, client_options options = {});

/// The exit code for a failure of the library.
int code_for(errc why) noexcept;

/// "holdfast: ..." as one line on stderr, safe to print.
void complain(std::string_view what);
/// The failure as one line, with the name of the lock that it concerns, safe to print.
std::string describe(failure why, std::string_view name = {});
/// Complains, in JSON on stdout as well if asked for, and gives the ending that goes with it.
ending fail(const program& with, const failure& why, std::string_view name = {});

/// Ends the process at once: nothing is destroyed, nothing that was registered runs.
[[noreturn]] void leave(const ending& end) noexcept;

/// The body of main(): runs the program, says what was wrong, and ends as it was told to.
int run_guarded(ending (*run)(int count, char** words), int count, char** words) noexcept;

}  // namespace holdfast::cli
