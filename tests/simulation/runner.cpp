#include "simulation/runner.hpp"

#include <atomic>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

namespace holdfast::simulation {

void sweep::add(const failing_seed& failed) {
    if (!first || failed.seed < first->seed) first = failed;
    const std::string& text = failed.found.text;
    const auto name_end = text.find(": ");
    auto& same = complaints[std::string(to_string(failed.found.by)) +
                            (name_end == std::string::npos ? ": " + text : text.substr(name_end))];
    if (++same.times == 1 || failed.seed < same.seed) same.seed = failed.seed;
}

sweep run_seeds(std::uint64_t from, std::uint64_t count, unsigned jobs, const reduction& less,
                bool until_failure) {
    sweep all;
    std::mutex mutex;
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> enough{false};
    const auto work = [&] {
        totals sums;
        std::vector<failing_seed> failed;
        while (!enough) {
            const std::uint64_t index = next++;
            if (index >= count) break;
            auto ended = run_seed(from + index, less);
            sums += ended.sums;
            if (!ended.found) continue;
            failed.push_back({from + index, *ended.found});
            if (until_failure) enough = true;
        }
        const std::lock_guard guard{mutex};
        all.sums += sums;
        for (const auto& each : failed) all.add(each);
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
    work();
    threads.clear();
    return all;
}

reduction shrink(const failing_seed& failed, const reduction& less) {
    reduction best = less;
    const auto try_out = [&](reduction candidate) {
        const auto ended = run_seed(failed.seed, candidate);
        if (!ended.found || ended.found->by != failed.found.by) return;
        best = candidate;
    };
    const plan whole = make_plan(failed.seed, less);
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (!whole.on(static_cast<fault>(i))) continue;
        reduction fewer = best;
        fewer.without.set(i);
        try_out(fewer);
    }
    for (unsigned clients = 1; clients < whole.clients && best.clients_max > clients; ++clients) {
        reduction fewer = best;
        fewer.clients_max = clients;
        try_out(fewer);
    }
    for (unsigned actors = 1; actors < whole.actors && best.actors_max > actors; ++actors) {
        reduction fewer = best;
        fewer.actors_max = actors;
        try_out(fewer);
    }
    return best;
}

std::string replay_options(std::uint64_t seed, const reduction& less) {
    std::ostringstream out;
    out << "--from " << seed << " --seeds 1 --verbose";
    const char* separator = " --without ";
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (!less.without[i]) continue;
        out << separator << to_string(static_cast<fault>(i));
        separator = ",";
    }
    const reduction whole;
    if (less.clients_max != whole.clients_max) out << " --clients " << less.clients_max;
    if (less.actors_max != whole.actors_max) out << " --actors " << less.actors_max;
    return out.str();
}

std::string describe(const totals& sums) {
    std::ostringstream out;
    out << sums.seeds << " seeds, " << sums.simulated / std::chrono::hours{1}
        << " simulated hours, " << sums.acquisitions << " acquisitions, " << sums.grants
        << " grants, " << sums.handovers << " passed on, " << sums.losses << " losses, "
        << sums.operations << " store operations, stale writes refused " << sums.writes_refused
        << ", unguarded updates lost " << sums.updates_lost << ", overlaps allowed "
        << sums.overlaps_allowed << "; faults:";
    for (std::size_t i = 0; i < fault_count; ++i) {
        out << ' ' << to_string(static_cast<fault>(i)) << ' ' << sums.faults[i];
    }
    out << "; violations: " << sums.violations;
    return out.str();
}

std::string describe(const violation& found) {
    std::ostringstream out;
    out << to_string(found.by) << ": " << found.text << ", after "
        << (found.at - time_point{std::chrono::seconds{1}}) / std::chrono::microseconds{1} << " us";
    return out.str();
}

}  // namespace holdfast::simulation
