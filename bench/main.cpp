// holdfast-bench: measures a store against its own floor, in the same run.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "crowd.hpp"
#include "hand_over.hpp"
#include "held.hpp"
#include "json.hpp"
#include "stores.hpp"
#include "table.hpp"

namespace holdfast::bench {
namespace {

constexpr int below_goal = 1;
constexpr int usage_error = 2;
constexpr int broken = 3;

struct options {
    std::string store;
    std::string only;
    bool json = false;
    bool check = false;
    effort how;
};

int run_worker(const words& arguments) {
    end_with_starter();
    const words rest{arguments.begin() + 1, arguments.end()};
    if (arguments[0] == "hand-over") return hand_over_worker(rest);
    if (arguments[0] == "crowd") return crowd_worker(rest);
    if (arguments[0] == "held") return held_worker(rest);
    throw std::invalid_argument("no such worker: " + arguments[0]);
}

struct measurements {
    std::vector<measured_row> rows{};
    int broken_works = 0;
};

measurements measure(const store_bench& store, const options& chosen) {
    const scratch_folder folder;
    measurements all;
    for (const auto& work : store.works(folder)) {
        if (work.name.find(chosen.only) == std::string::npos) continue;
        fmt::print(stderr, "measuring: {}\n", work.name);
        try {
            const auto measured = run(work, chosen.how);
            all.rows.insert(all.rows.end(), measured.begin(), measured.end());
        } catch (const std::exception& error) {
            fmt::print(stderr, "broken: {}: {}\n", work.name, error.what());
            ++all.broken_works;
        }
    }
    return all;
}

int judge(const std::vector<measured_row>& rows) {
    int result = rows.empty() ? below_goal : 0;
    for (const auto& row : rows) {
        if (row.met) continue;
        fmt::print(stderr, "missed: {}\n", missed(row));
        result = below_goal;
    }
    return result;
}

int bench(const store_bench& store, const options& chosen) {
    const auto all = measure(store, chosen);
    fmt::print("{}", chosen.json ? to_json(store.name, chosen.how, all.rows) : table(all.rows));
    const int result = chosen.check ? judge(all.rows) : 0;
    return all.broken_works == 0 ? result : broken;
}

int bench(const options& chosen) {
    std::string known;
    for (const auto& store : stores()) {
        if (store.name == chosen.store) return bench(store, chosen);
        known += fmt::format(" {}", store.name);
    }
    fmt::print(stderr, "holdfast-bench: no store '{}'; there are:{}\n", chosen.store, known);
    return usage_error;
}

int main(int argc, char** argv) {
    if (argc > 2 && std::string_view(argv[1]) == "--worker") {
        return run_worker({argv + 2, argv + argc});
    }
    options chosen;
    CLI::App app{"Measures a store against its own floor, in the same run.", "holdfast-bench"};
    app.add_option("STORE", chosen.store, "memory or sqlite")->required();
    app.add_flag("--json", chosen.json, "One JSON document instead of the table");
    app.add_flag("--check", chosen.check, "Exit with 1 if a goal is missed, and name it");
    app.add_option("--only", chosen.only, "Only works whose names contain this");
    app.add_flag("--quick", chosen.how.quick,
                 "Everything for a moment; with --check, twice as bad as the goal is missed");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : usage_error;
    }
    return bench(chosen);
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
    try {
        return holdfast::bench::main(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "holdfast-bench: {}\n", error.what());
        return holdfast::bench::broken;
    }
}
