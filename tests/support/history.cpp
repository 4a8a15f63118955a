#include "support/history.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "support/mapped_file.hpp"

namespace holdfast::tests {
namespace {

constexpr std::size_t entries_max = 60'000;

std::string told(const history_log::line& line) {
    return line.name + ": token " + std::to_string(line.token) + " of process " +
           std::to_string(line.process);
}

// One hold as its holder believed in it.
struct belief {
    const history_log::line* grant = nullptr;
    time_point begin{};
    time_point end{};
    time_point deadline{};
};

std::vector<belief> beliefs(const std::vector<history_log::line>& log) {
    std::vector<belief> all;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_handle;
    for (const auto& line : log) {
        const auto key = std::pair{line.process, line.handle};
        if (line.what == deed::acquired) {
            by_handle[key] = all.size();
            all.push_back({&line, line.at, line.until, line.until});
            continue;
        }
        const auto found = by_handle.find(key);
        if (found == by_handle.end()) continue;
        belief& one = all[found->second];
        if (line.what != deed::releasing && line.what != deed::lost) continue;
        one.deadline = std::max(one.deadline, line.until);
        one.end = std::min(line.at, one.deadline);
    }
    return all;
}

}  // namespace

struct history_log::content {
    std::atomic<std::size_t> count;
    std::array<entry, entries_max> entries;
};

history_log::history_log(const std::string& path) : content_(map_file<content>(path)) {
}
history_log::~history_log() {
    unmap(content_);
}

entry& history_log::begin(deed what, std::string_view name) {
    const std::size_t at = content_->count.fetch_add(1);
    if (at >= entries_max) throw std::length_error("the history is full");
    entry& begun = content_->entries[at];
    begun.what = what;
    std::ranges::copy(name.substr(0, begun.name.size() - 1), begun.name.begin());
    return begun;
}

std::vector<history_log::line> history_log::read() const {
    std::vector<line> all;
    const std::size_t count = std::min(content_->count.load(), entries_max);
    for (std::size_t i = 0; i < count; ++i) {
        const entry& from = content_->entries[i];
        if (!from.complete.load(std::memory_order_acquire)) continue;
        all.push_back({from.what, from.name.data(), from.process, from.handle, from.token,
                       from.value, time_point{duration{from.from}}, time_point{duration{from.at}},
                       time_point{duration{from.until}}, from.shared, from.permits});
    }
    return all;
}

struct guarded_number::content {
    std::atomic<std::uint64_t> newest;
    std::atomic<std::uint64_t> value;
};

guarded_number::guarded_number(const std::string& path) : content_(map_file<content>(path)) {
}
guarded_number::~guarded_number() {
    unmap(content_);
}

bool guarded_number::add(std::uint64_t token) {
    std::uint64_t newest = content_->newest;
    do {
        if (token < newest) return false;
    } while (!content_->newest.compare_exchange_weak(newest, token));
    const std::uint64_t before = content_->value.load(std::memory_order_relaxed);
    content_->value.store(before + 1, std::memory_order_relaxed);
    return true;
}

std::uint64_t guarded_number::value() const {
    return content_->value;
}

void check_token_order(const std::vector<history_log::line>& log, verdict& into) {
    std::map<std::string, std::vector<const history_log::line*>> by_name;
    for (const auto& line : log) {
        if (line.what == deed::acquired) by_name[line.name].push_back(&line);
    }
    for (auto& [name, grants] : by_name) {
        into.grants += grants.size();
        // Whoever began after somebody had returned, that is: ordered by the times of return, a
        // grant has a greater token than all that had returned before it was asked for.
        auto by_return = grants;
        std::ranges::sort(by_return, {}, &history_log::line::at);
        std::ranges::sort(grants, {}, &history_log::line::from);
        std::uint64_t newest = 0;
        std::size_t returned = 0;
        for (const auto* grant : grants) {
            for (; returned < by_return.size() && by_return[returned]->at < grant->from;
                 ++returned) {
                newest = std::max(newest, by_return[returned]->token);
            }
            if (grant->token <= newest) {
                into.problems.push_back(told(*grant) + " is not above " + std::to_string(newest));
            }
        }
        std::ranges::sort(grants, {}, &history_log::line::token);
        const auto twice = std::ranges::adjacent_find(grants, {}, &history_log::line::token);
        if (twice != grants.end()) into.problems.push_back(told(**twice) + " was granted twice");
    }
}

void check_writes(const std::vector<history_log::line>& log, verdict& into) {
    std::map<std::string, std::uint64_t> newest;
    for (const auto& line : log) {
        if (line.what == deed::wrote) {
            if (line.token < newest[line.name]) {
                into.problems.push_back(told(line) + " was accepted after a newer one");
            }
            newest[line.name] = std::max(newest[line.name], line.token);
        }
        if (line.what == deed::refused && line.token >= newest[line.name]) {
            into.problems.push_back(told(line) + " was refused although it is the newest");
        }
    }
}

void check_overlap(const std::vector<history_log::line>& log, std::uint32_t capacity,
                   verdict& into) {
    struct change {
        time_point when;
        std::int64_t weight;
        const history_log::line* grant;
    };
    std::map<std::string, std::vector<change>> by_name;
    for (const auto& one : beliefs(log)) {
        if (one.end <= one.begin) continue;
        // A shared hold weighs one of very many, so that only an exclusive one fills the rest.
        const std::int64_t weight =
            capacity > 1 ? one.grant->permits : (one.grant->shared ? 1 : 1'000'000);
        by_name[one.grant->name].push_back({one.begin, weight, one.grant});
        by_name[one.grant->name].push_back({one.end, -weight, one.grant});
    }
    const std::int64_t limit = capacity > 1 ? capacity : 1'000'000;
    for (auto& [name, changes] : by_name) {
        std::ranges::sort(changes, {}, [](const change& c) { return std::pair{c.when, c.weight}; });
        std::int64_t held = 0;
        for (const auto& one : changes) {
            held += one.weight;
            if (held > limit) {
                into.problems.push_back(told(*one.grant) + " overlaps with another hold");
            }
        }
    }
}

void check_detection(const std::vector<history_log::line>& log, duration bound, verdict& into) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, time_point> lost_at;
    for (const auto& line : log) {
        if (line.what == deed::lost) lost_at[{line.process, line.handle}] = line.at;
    }
    into.losses += lost_at.size();
    for (const auto& one : beliefs(log)) {
        const auto found = lost_at.find({one.grant->process, one.grant->handle});
        if (found != lost_at.end() && found->second > one.deadline + bound) {
            into.problems.push_back(told(*one.grant) + " was told " +
                                    std::to_string((found->second - one.deadline).count() / 1000) +
                                    " us after its deadline");
        }
    }
}

}  // namespace holdfast::tests
