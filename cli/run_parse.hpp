// From the command line of `holdfast run` to run_options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run_options.hpp"

namespace holdfast::cli {

/// The command line as CLI11 leaves it: texts, not yet understood.
struct run_words {
    std::vector<std::string> locks;
    std::vector<std::string> locks_hex;
    bool shared = false;
    bool exclusive = false;
    std::optional<std::string> permits;
    std::optional<std::string> wait;
    bool no_wait = false;
    std::optional<std::string> ttl;
    bool fair = false;
    std::string label;
    std::optional<std::string> on_lost;
    std::optional<std::string> grace;
    std::optional<std::string> conflict_code;
    std::optional<std::string> token_descriptor;
    std::optional<std::string> script;
    bool close = false;
    bool no_fork = false;
    bool quiet = false;
    bool verbose = false;
};

void define_run(CLI::App& app, run_words& words);

/// Checks everything that can be checked without the store; throws usage_error. `rest` is what
/// CLI11 did not know: the command.
run_options read_run(const run_words& words, std::vector<std::string> rest);

}  // namespace holdfast::cli
