#include "simulation/plan.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "simulation/random.hpp"
#include "stores/lease_table/lease_table.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, fault_count> fault_names{
    "lose_request", "lose_answer", "late_request", "late_answer",    "duplicate",
    "unavailable",  "unknown",     "lose_hint",    "late_hint",      "cut",
    "pause",        "crash",       "restart_keep", "restart_forget", "clock_ahead",
    "session_end",  "evict",       "store_clock",  "shutdown"};

// Of 1000 messages, or of 1000 moments (one every 250 ms), this many at most.
constexpr std::array<std::uint32_t, fault_count> fault_rates{
    60, 60, 40, 40, 40, 60, 60, 300, 200, 40, 60, 25, 25, 15, 20, 25, 25, 15, 15};

subject make_subject(rng& random, unsigned index) {
    subject made{.name = "lock-" + std::to_string(index), .capacity = 1};
    const auto roll = random.below(10);
    if (roll < 5) {
        made.what = kind::mutex;
    } else if (roll < 8) {
        made.what = kind::shared_mutex;
    } else {
        made.what = kind::semaphore;
        made.capacity = 2 + static_cast<std::uint32_t>(random.below(2));
    }
    const auto order_roll = random.below(10);
    made.next = order_roll < 7 ? order::standard : order_roll < 9 ? order::fair : order::barging;
    return made;
}

capabilities make_caps(rng& random, bool fencing) {
    constexpr std::array<std::uint32_t, 3> drifts{0, 500, 10'000};
    constexpr std::array<std::size_t, 3> batches{1, 3, 1000};
    auto caps = lease_table::facts();
    caps.fencing = fencing;
    caps.token_blocks = random.chance(700);
    caps.drift_ppm = drifts[random.below(drifts.size())];
    caps.batch_max = batches[random.below(batches.size())];
    return caps;
}

}  // namespace

const char* to_string(fault which) noexcept {
    return fault_names.at(static_cast<std::size_t>(which));
}

fault_set parse_faults(const std::string& list) {
    fault_set parsed;
    std::istringstream in{list};
    for (std::string word; std::getline(in, word, ',');) {
        const auto found = std::ranges::find(fault_names, word);
        if (found == fault_names.end()) throw std::invalid_argument("no such fault: " + word);
        parsed.set(static_cast<std::size_t>(found - fault_names.begin()));
    }
    return parsed;
}

plan make_plan(std::uint64_t seed, const reduction& less) {
    rng random{seed};
    plan made;
    made.seed = seed;
    made.clients = 2 + static_cast<unsigned>(random.below(2));
    made.actors = 1 + static_cast<unsigned>(random.below(4));
    made.inline_answers = random.chance(250);
    made.bounces = random.chance(500);
    made.knows_processes = random.chance(400);
    made.floors = random.chance(500);
    made.fifo = random.chance(300);
    made.observed = random.chance(200);
    const unsigned subjects = random.chance(200) ? 2 : 1;
    for (unsigned i = 0; i < subjects; ++i) made.subjects.push_back(make_subject(random, i));
    made.delay_min = 100us;
    made.delay_max = random.chance(500) ? 2ms : 20ms;
    constexpr std::array<duration, 3> ttls{600ms, 2s, 6s};
    made.ttl = ttls[random.below(ttls.size())];
    made.think_max = random.chance(500) ? 50ms : 1500ms;
    made.hold_max = random.chance(500) ? 100ms : made.ttl * 2;
    made.handovers_max = random.chance(200) ? 0 : 3;
    // Swarm: in each run most faults are off, and those that are on differ in how often they
    // strike.
    const std::uint32_t share = random.chance(100) ? 0 : random.chance(500) ? 300 : 600;
    for (std::size_t i = 0; i < fault_count; ++i) {
        const bool on = random.chance(share);
        const auto rate = 1 + static_cast<std::uint32_t>(random.below(fault_rates[i]));
        if (on && !less.without[i]) made.permille[i] = rate;
    }
    made.caps = make_caps(random, made.floors || !made.on(fault::restart_forget));
    made.faults_end = random.between(2s, 12s);
    made.calm_begin = made.faults_end + lease_table::waiter_ttl + made.ttl * 5 / 2 + 2s;
    made.work_end = made.calm_begin + 1500ms;
    made.clients = std::min(made.clients, less.clients_max);
    made.actors = std::min(made.actors, less.actors_max);
    return made;
}

}  // namespace holdfast::simulation
