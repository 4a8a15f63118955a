#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace holdfast::bench {
namespace {

// The figures of one way: by round, then by row.
struct series {
    std::string way;
    std::vector<figures> rounds{};

    std::vector<double> of(std::size_t row) const {
        std::vector<double> values;
        for (const auto& round : rounds) {
            if (!std::isnan(round.at(row))) values.push_back(round[row]);
        }
        return values;
    }
};

// The figures of the turns of a round, row by row.
figures middle(const std::vector<figures>& turns) {
    figures all = turns.front();
    for (std::size_t row = 0; row < all.size(); ++row) {
        std::vector<double> values;
        for (const auto& turn : turns) values.push_back(turn.at(row));
        all[row] = median(std::move(values));
    }
    return all;
}

// One round of all ways. They take turns to and fro, because a scheduler that gives this process
// the processor for some milliseconds would favour those who are always the first.
std::vector<figures> measure_round(const std::vector<const way*>& ways, int turns) {
    std::vector<std::vector<figures>> all(ways.size());
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const auto next = turn % 2 == 0 ? i : ways.size() - 1 - i;
            all[next].push_back(ways[next]->measure());
        }
    }
    std::vector<figures> round;
    for (const auto& one : all) round.push_back(middle(one));
    return round;
}

double folded(const std::vector<double>& values, folding how) {
    if (values.empty()) return none;
    switch (how) {
        case folding::median:
            return median(values);
        case folding::sum:
            return std::accumulate(values.begin(), values.end(), 0.0);
        case folding::highest:
            return *std::ranges::max_element(values);
    }
    return none;
}

figure folded(const series& all, std::size_t index, folding how) {
    return {all.way, folded(all.of(index), how)};
}

// Each round by itself: what disturbs the machine for longer than a round disturbs both alike.
comparison compare(const series& ours, const series& floor, std::size_t index, bool difference) {
    std::vector<double> rounds;
    for (std::size_t i = 0; i < std::min(ours.rounds.size(), floor.rounds.size()); ++i) {
        const double a = ours.rounds[i].at(index);
        const double b = floor.rounds[i].at(index);
        if (std::isnan(a) || std::isnan(b) || (!difference && b == 0)) continue;
        rounds.push_back(difference ? a - b : a / b);
    }
    if (rounds.empty()) return {};
    const auto [lowest, highest] = std::ranges::minmax_element(rounds);
    return {median(rounds), *lowest, *highest};
}

// A quick run is to see that a work works and that no ratio fell apart. A time or a share of a
// processor without a floor beside it says more of the machine, so there only counts are judged.
bool meets(const measured_row& row, bool quick) {
    const double slack = quick ? 4 : 1;
    const double limit = row.of.aim.limit;
    switch (row.of.aim.by) {
        case compared::nothing:
            return true;
        case compared::ratio_at_least:
            return row.ratio.median >= limit / slack;
        case compared::ratio_at_most:
        case compared::difference_at_most:
            return row.ratio.median <= limit * slack;
        case compared::value_at_most:
            return (quick && limit != 0) || row.ours.value <= limit;
    }
    return false;
}

}  // namespace

double median(std::vector<double> values) {
    return percentile(std::move(values), 0.5);
}

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return none;
    const auto last = static_cast<double>(values.size() - 1);
    const auto place = static_cast<std::ptrdiff_t>(std::lround(share * last));
    std::ranges::nth_element(values, values.begin() + place);
    return values[static_cast<std::size_t>(place)];
}

std::vector<measured_row> run(const named_work& what, const effort& how) {
    const work it = what.make(how);
    std::vector<const way*> ways;
    if (it.floor) ways.push_back(&*it.floor);
    for (const auto& peer : it.peers) ways.push_back(&peer);
    ways.push_back(&it.ours);
    std::vector<series> all;
    for (const way* each : ways) all.push_back({each->name});
    for (int i = 0; i < it.rounds; ++i) {
        auto round = measure_round(ways, it.turns);
        for (std::size_t w = 0; w < ways.size(); ++w) all[w].rounds.push_back(std::move(round[w]));
    }
    const series nothing;
    const series& floor = it.floor ? all.front() : nothing;
    const series& ours = all.back();
    const std::span peers{all.begin() + (it.floor ? 1 : 0), all.end() - 1};
    std::vector<measured_row> rows;
    for (std::size_t i = 0; i < it.rows.size(); ++i) {
        const row& of = it.rows[i];
        measured_row result{.work = what.name, .of = of};
        result.ours = folded(ours, i, of.fold);
        result.floor = folded(floor, i, of.fold);
        for (const auto& peer : peers) result.peers.push_back(folded(peer, i, of.fold));
        result.ratio = compare(ours, floor, i, of.aim.by == compared::difference_at_most);
        result.met = meets(result, how.quick);
        rows.push_back(std::move(result));
    }
    return rows;
}

}  // namespace holdfast::bench
