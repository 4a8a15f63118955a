// holdfast-demo: the experiments behind `holdfast demo`, as a program of their own beside the
// stores.
#include <filesystem>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "../output.hpp"
#include "../program.hpp"
#include "../text.hpp"
#include "oversell.hpp"
#include "worker.hpp"

namespace holdfast::cli::demo {
namespace {

ending run_oversell(int count, char** words) {
    program with;
    CLI::App app{"Sell more than there is, with two processes and no lock; then not, with a lock",
                 "holdfast demo oversell"};
    add_oversell(app, with);
    try {
        app.parse(count, words);
    } catch (const CLI::CallForHelp&) {
        print(app.help());
        return {};
    } catch (const CLI::ParseError& wrong) {
        throw usage_error(
            fmt::format("{} (see holdfast demo oversell --help)", shown(wrong.what())));
    }
    return with.action();
}

ending run_program(int count, char** words) {
    load_stores_from(std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
    const std::string_view what = count > 1 ? words[1] : "";
    if (what == "oversell-worker") return {work()};
    if (what != "oversell") throw usage_error("this is a part of holdfast: run holdfast demo");
    return run_oversell(count - 1, words + 1);
}

}  // namespace
}  // namespace holdfast::cli::demo

int main(int count, char** words) {
    return holdfast::cli::run_guarded(holdfast::cli::demo::run_program, count, words);
}
