// Runs many seeds on a few threads, and looks into those that fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "simulation/world.hpp"

namespace holdfast::simulation {

struct failing_seed {
    std::uint64_t seed = 0;
    violation found;
};

/// What a checker complained about: how often, and the lowest seed.
struct complaint {
    std::uint64_t times = 0;
    std::uint64_t seed = 0;
};

struct sweep {
    totals sums;
    std::optional<failing_seed> first;  ///< the lowest seed that failed
    std::map<std::string, complaint> complaints;

    void add(const failing_seed& failed);
};

/// Seeds from, from + 1, … With `until_failure` it ends soon after the first that fails.
sweep run_seeds(std::uint64_t from, std::uint64_t count, unsigned jobs, const reduction& less,
                bool until_failure);

/// Takes away faults, clients and threads as long as the same checker still complains.
reduction shrink(const failing_seed& failed, const reduction& less);

/// The options that replay it.
std::string replay_options(std::uint64_t seed, const reduction& less);

/// For people, one line.
std::string describe(const totals& sums);
std::string describe(const violation& found);

}  // namespace holdfast::simulation
