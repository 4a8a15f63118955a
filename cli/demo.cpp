// The experiments are a program of their own, holdfast-demo, which lies beside the stores: it links
// a database, and would make the start of every `holdfast run` slower.
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "stores.hpp"
#include "text.hpp"

namespace holdfast::cli {
namespace {

/// Becomes the experiment; returns only if that fails.
ending become(std::string experiment, std::vector<std::string> words) {
    std::string path = store_directory() / "holdfast-demo";
    std::vector<char*> all{path.data(), experiment.data()};
    for (std::string& each : words) all.push_back(each.data());
    all.push_back(nullptr);
    ::execv(path.c_str(), all.data());
    const std::error_code why{errno, std::generic_category()};
    complain(fmt::format("cannot start {}: {}", shown(path), why.message()));
    return {exit_code::internal};
}

}  // namespace

void add_demo(CLI::App& app, program& with) {
    app.require_subcommand(1);
    CLI::App* oversell = app.add_subcommand(
        "oversell", "Two processes sell more than there is without a lock, and not with one");
    // Its options, also --help, are the other program's.
    oversell->prefix_command();
    oversell->set_help_flag();
    with.action = [oversell] { return become("oversell", oversell->remaining()); };
}

}  // namespace holdfast::cli
