// What one seed runs: how many clients and names, how the store and the network behave, and which
// faults are on. Everything follows from the seed; a shrinker only takes things away.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/store.hpp>

namespace holdfast::simulation {

enum class fault : std::uint8_t {
    lose_request,
    lose_answer,
    late_request,
    late_answer,
    duplicate,    // a request arrives twice, the second time at any later moment
    unavailable,  // surely without effect, and said so
    unknown,      // the store gives up on the answer, with or without effect
    lose_hint,
    late_hint,
    cut,             // one client and the store do not reach each other for a while
    pause,           // a client stands still while time goes on (SIGSTOP, suspend)
    crash,           // a client vanishes; another one takes its place
    restart_keep,    // the store is down for a while
    restart_forget,  // and comes back empty: overlaps are allowed, and counted
    clock_ahead,     // a client's clock leaps forward
    session_end,     // the store ends everything of a client that still lives
    evict,           // an operator breaks a hold
    store_clock,     // the store's clock leaps forward: overlaps are allowed, and counted
    shutdown,        // a client is closed in the middle of its work
    count,
};
inline constexpr std::size_t fault_count = static_cast<std::size_t>(fault::count);
using fault_set = std::bitset<fault_count>;
const char* to_string(fault which) noexcept;
/// "pause,crash" to a set; throws std::invalid_argument.
fault_set parse_faults(const std::string& list);

/// What is taken away from the plan of a seed, to replay or to shrink a failure.
struct reduction {
    fault_set without{};
    unsigned clients_max = 99;
    unsigned actors_max = 99;
};

/// One name and how it is used.
struct subject {
    std::string name;
    kind what = kind::mutex;
    std::uint32_t capacity = 1;
    order next = order::standard;
};

struct plan {
    std::uint64_t seed = 0;
    unsigned clients = 2;
    unsigned actors = 1;  ///< local threads of each client
    std::vector<subject> subjects;
    std::array<std::uint32_t, fault_count> permille{};  ///< per message, or per moment
    bool inline_answers = false;   ///< the store answers inside the call, as an embedded one
    bool bounces = false;          ///< a store that is down refuses instead of keeping silent
    bool knows_processes = false;  ///< the store sees a client's process die
    bool floors = true;            ///< tokens rise even if the store forgets everything
    bool observed = false;         ///< everything is told to an observer
    bool fifo = false;             ///< messages of one client do not overtake each other
    duration delay_min{};
    duration delay_max{};
    duration ttl{};
    duration think_max{};
    duration hold_max{};
    duration faults_end{};  ///< faults happen before this, from the start
    duration calm_begin{};  ///< everything that faults left behind has ended by then
    duration work_end{};    ///< no new work
    std::uint32_t handovers_max = 15;
    capabilities caps;

    bool on(fault which) const { return permille[static_cast<std::size_t>(which)] != 0; }
};

plan make_plan(std::uint64_t seed, const reduction& less);

}  // namespace holdfast::simulation
