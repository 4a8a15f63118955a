// The command line of `holdfast run`: understood, or refused by the exceptions that main knows.
// The words are the lines of the input.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/run_parse.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace holdfast::cli;
    std::vector<std::string> words{"run"};
    std::string_view rest{reinterpret_cast<const char*>(data), size};
    while (!rest.empty() && words.size() < 40) {
        const auto end = rest.find('\n');
        words.emplace_back(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    std::vector<const char*> arguments;
    for (const auto& word : words) arguments.push_back(word.c_str());
    CLI::App app{"fuzz", "holdfast run"};
    run_words understood;
    define_run(app, understood);
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
        const auto options = read_run(understood, app.remaining());
        const bool sound = !options.locks.empty() && !options.command.empty() &&
                           options.wait >= holdfast::duration::zero() &&
                           options.ttl > holdfast::duration::zero();
        if (!sound) std::abort();
    } catch (const CLI::Error&) {   // NOLINT(bugprone-empty-catch): refused, as it should be
    } catch (const usage_error&) {  // NOLINT(bugprone-empty-catch): likewise
    }
    return 0;
}
