// simulation_seeds [--from N] [--seeds N] [--jobs N] [--without FAULT,...] [--clients N] [--actors
// N]
//                  [--verbose] [--fresh]
// Runs seeds, prints one line, and for a failure the command that replays its smallest form.
// --fresh begins where nobody has been before. --verbose tells all that happens.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "simulation/runner.hpp"

namespace {

using namespace holdfast::simulation;

struct options {
    std::uint64_t from = 0;
    std::uint64_t seeds = 1000;
    unsigned jobs = 1;
    reduction less;
    bool verbose = false;
    bool fresh = false;
};

options parse(int argc, char** argv) {
    options chosen;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--verbose") {
            chosen.verbose = true;
            continue;
        }
        if (word == "--fresh") {
            chosen.fresh = true;
            continue;
        }
        if (++i == argc) throw std::invalid_argument("nothing follows " + word);
        const std::string value = argv[i];
        if (word == "--from")
            chosen.from = std::stoull(value);
        else if (word == "--seeds")
            chosen.seeds = std::stoull(value);
        else if (word == "--jobs")
            chosen.jobs = static_cast<unsigned>(std::stoul(value));
        else if (word == "--clients")
            chosen.less.clients_max = static_cast<unsigned>(std::stoul(value));
        else if (word == "--actors")
            chosen.less.actors_max = static_cast<unsigned>(std::stoul(value));
        else if (word == "--without")
            chosen.less.without = parse_faults(value);
        else
            throw std::invalid_argument("unknown option " + word);
    }
    // What the sanitizers cost.
#if defined(__SANITIZE_ADDRESS__)
    chosen.seeds = chosen.seeds / 20 + 1;
#elif defined(__SANITIZE_THREAD__)
    chosen.seeds = chosen.seeds / 100 + 1;
#endif
    if (chosen.fresh) chosen.from = (std::uint64_t{std::random_device{}()} << 24U);
    return chosen;
}

// A long run in which some fault never struck, or in which unguarded updates were never lost, has
// not tried what it is for.
bool tried_everything(const options& chosen, const totals& sums) {
    if (chosen.seeds < 100'000 || chosen.less.without.any()) return true;
    const bool struck =
        std::ranges::all_of(sums.faults, [](std::uint64_t times) { return times != 0; });
    const bool harmed = sums.updates_lost != 0 && sums.writes_refused != 0;
    if (!struck || !harmed) std::cout << "some faults never struck, or did no harm\n";
    return struck && harmed;
}

int run(const options& chosen, const char* program) {
    std::cout << "seeds from " << chosen.from << '\n';
    if (chosen.verbose) {
        for (std::uint64_t i = 0; i < chosen.seeds; ++i) {
            const auto ended = run_seed(chosen.from + i, chosen.less, true);
            if (ended.found) std::cout << describe(*ended.found) << '\n';
        }
        return 0;
    }
    const auto all = run_seeds(chosen.from, chosen.seeds, chosen.jobs, chosen.less, false);
    std::cout << describe(all.sums) << '\n';
    if (!all.first) return tried_everything(chosen, all.sums) ? 0 : 1;
    for (const auto& [text, same] : all.complaints) {
        std::cout << same.times << " times, first seed " << same.seed << ": " << text << '\n';
    }
    std::cout << "seed " << all.first->seed << ": " << describe(all.first->found) << '\n'
              << "replay: " << program << ' '
              << replay_options(all.first->seed, shrink(*all.first, chosen.less)) << '\n';
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv), argv[0]);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
