// The holdfast program. Only the command that is asked for is set up: a start costs little.
#include <malloc.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/version.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "stores.hpp"
#include "text.hpp"

namespace holdfast::cli {
namespace {

struct command {
    const char* name;
    const char* summary;
    void (*add)(CLI::App& app, program& with);
};

constexpr std::array commands{
    command{"run", "Run a command while holding a lock", add_run},
    command{"list", "List the locks that are held or waited for", add_list},
    command{"show", "Show who holds a lock and who waits for it", add_show},
    command{"wait", "Wait until nobody holds a lock", add_wait},
    command{"break", "End the hold of somebody else", add_break},
    command{"doctor", "Examine a store and say what is wrong with it", add_doctor},
    command{"demo", "See for yourself what a lock is good for", add_demo},
};

constexpr const char* version_line = "holdfast " HOLDFAST_VERSION_STRING "\n";

std::string overview() {
    std::string out =
        "Locks that tell the truth, for processes and machines.\n\n"
        "Usage: holdfast COMMAND [OPTIONS]\n\nCommands:\n";
    for (const command& each : commands) {
        out += fmt::format("  {:<8}{}\n", each.name, each.summary);
    }
    out +=
        "\nholdfast COMMAND --help tells the options, holdfast --version the version.\n"
        "The store is named by --store or $HOLDFAST_STORE; without, it is a file of your own.\n";
    return out;
}

const command& find_command(std::string_view name) {
    for (const command& each : commands) {
        if (name == each.name) return each;
    }
    std::string known;
    for (const command& each : commands) known += fmt::format(" {}", each.name);
    throw usage_error(fmt::format("there is no command '{}'; there are:{}", shown(name), known));
}

/// CLI11 takes `--lock=` as `--lock`, and the next word for its value: from `--lock="$unset" make`
/// it would make a lock named make.
void refuse_empty_values(std::span<char*> options) {
    for (const std::string_view word : options) {
        if (word.starts_with("--") && word.find('=') + 1 == word.size()) {
            throw usage_error(fmt::format("{}: the value is empty", shown(word)));
        }
    }
}

/// The words of the program, its name and the command's included.
ending run_command(const command& chosen, int count, char** all_words) {
    char** const words = all_words + 1;
    --count;
    program with;
    CLI::App app{chosen.summary, fmt::format("holdfast {}", chosen.name)};
    chosen.add(app, with);
    try {
        app.parse(count, words);
    } catch (const CLI::CallForHelp&) {
        print(app.help());
        return {};
    } catch (const CLI::ParseError& wrong) {
        throw usage_error(
            fmt::format("{} (see holdfast {} --help)", shown(wrong.what()), chosen.name));
    }
    const std::size_t own = static_cast<std::size_t>(count) - app.remaining_size();
    refuse_empty_values(std::span{words, own});
    try {
        if (with.opens_store) provide_store(store_url(with), all_words);
        return with.action();
    } catch (const lock_error& failed) {
        return fail(with, failed.info());
    }
}

ending run_program(int count, char** words) {
    if (count < 2) throw usage_error("a command is missing; holdfast --help lists them");
    const std::string_view first = words[1];
    if (first == "--help" || first == "-h" || first == "help") {
        print(overview());
        return {};
    }
    if (first == "--version" || first == "-V") {
        print(version_line);
        return {};
    }
    return run_command(find_command(first), count, words);
}

}  // namespace
}  // namespace holdfast::cli

int main(int count, char** words) {
    // Its few threads take turns; memory areas of their own would only make the start slower.
    ::mallopt(M_ARENA_MAX, 1);
    return holdfast::cli::run_guarded(holdfast::cli::run_program, count, words);
}
