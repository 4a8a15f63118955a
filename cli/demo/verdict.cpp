#include "verdict.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace holdfast::cli::demo {
namespace {

bool wrote(const action& done) {
    return done.result == outcome::written;
}

/// Places of the actions that wrote, in the order in which the database took their writes.
std::vector<std::size_t> in_order_of_writes(const run& what) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < what.actions.size(); ++i) {
        if (wrote(what.actions[i])) out.push_back(i);
    }
    std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
        return what.actions[a].version < what.actions[b].version;
    });
    return out;
}

std::string words_for_duplicate(const run& what, const mistake& found) {
    const action& first = what.actions[found.victim];
    const action& second = what.actions[found.culprit];
    return fmt::format(
        "{} looked at {} and found no such number. {} entered it by {}. {}, which "
        "did not know, entered it again by {}.",
        actor(second), moment(what, second.read_at), actor(first), moment(what, first.written_at),
        actor(second), moment(what, second.written_at));
}

std::string words_for_lost_update(const run& what, const mistake& found) {
    const action& lost = what.actions[found.victim];
    const action& over = what.actions[found.culprit];
    return fmt::format(
        "{} read {} at {}. {} sold one and wrote {} by {}. {} still had its {} in "
        "mind and wrote {} over it by {}: the sale of {} is missing in the stock.",
        actor(over), over.seen, moment(what, over.read_at), actor(lost), lost.left,
        moment(what, lost.written_at), actor(over), over.seen, over.left,
        moment(what, over.written_at), actor(lost));
}

// Every row after the first is one too many: whoever wrote it had looked before there was any.
std::vector<mistake> find_duplicates(const run& what) {
    std::vector<mistake> out;
    const std::vector<std::size_t> order = in_order_of_writes(what);
    for (std::size_t i = 1; i < order.size(); ++i) {
        out.push_back({order[0], order[i], {}});
        out.back().text = words_for_duplicate(what, out.back());
    }
    return out;
}

/// The first write after place `i` in the order whose author had not seen the one there.
std::size_t first_over(const run& what, const std::vector<std::size_t>& order, std::size_t i) {
    for (std::size_t next = i + 1; next < order.size(); ++next) {
        const auto seen = static_cast<std::size_t>(what.actions[order[next]].seen_version);
        if (seen <= i) return order[next];
    }
    return order.back();
}

// The stock shows a chain of sales: the last one written, the one that it had read, and so on. A
// sale that is no link of it is lost: the link after it had read what was before it.
std::vector<mistake> find_lost_updates(const run& what) {
    std::vector<mistake> out;
    const std::vector<std::size_t> order = in_order_of_writes(what);
    std::size_t seen_by_link = order.size();
    for (std::size_t i = order.size(); i-- > 0;) {
        if (seen_by_link == i + 1) {
            seen_by_link = static_cast<std::size_t>(what.actions[order[i]].seen_version);
            continue;
        }
        out.push_back({order[i], first_over(what, order, i), {}});
        out.back().text = words_for_lost_update(what, out.back());
    }
    std::reverse(out.begin(), out.end());
    return out;
}

// At equal times ends count before beginnings.
std::size_t most_at_once(const run& what) {
    std::vector<std::pair<time_point, int>> changes;
    for (const action& each : what.actions) {
        changes.emplace_back(each.read_at, 1);
        changes.emplace_back(each.written_at, -1);
    }
    std::sort(changes.begin(), changes.end());
    int now = 0;
    int most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, now += change);
    return static_cast<std::size_t>(most);
}

void look_at_holds(run& what) {
    const action* before = nullptr;
    for (const action& each : what.actions) {
        if (!what.locked || each.token == fencing_token{}) continue;
        if (before != nullptr) {
            if (before->process != each.process) ++what.handovers;
            const bool risen = before->token < each.token;
            if (before->released > each.granted || !risen) ++what.overlaps;
        }
        before = &each;
    }
}

bool contents_are_right(const run& what) {
    if (what.what == experiment::phones) return what.after.rows == 1;
    const auto tries = static_cast<std::int64_t>(what.actions.size());
    return what.after.sales == std::min(what.before.stock, tries) &&
           what.after.stock == what.before.stock - what.after.sales;
}

}  // namespace

std::string actor(const action& who) {
    return fmt::format("P{}/T{}", who.process, who.thread);
}

void judge(run& what) {
    std::sort(what.actions.begin(), what.actions.end(), [](const action& a, const action& b) {
        return std::tie(a.granted, a.read_at) < std::tie(b.granted, b.read_at);
    });
    what.mistakes =
        what.what == experiment::phones ? find_duplicates(what) : find_lost_updates(what);
    what.crowd = most_at_once(what);
    look_at_holds(what);
    what.failures = static_cast<std::size_t>(
        std::count_if(what.actions.begin(), what.actions.end(), [](const action& each) {
            return each.result == outcome::failed || each.result == outcome::stale;
        }));
    what.correct = contents_are_right(what) && what.overlaps == 0;
}

std::int64_t duplicates(const run& what) {
    return std::max<std::int64_t>(0, what.after.rows - 1);
}

std::int64_t lost_updates(const run& what) {
    return what.after.sales - (what.before.stock - what.after.stock);
}

std::int64_t oversold(const run& what) {
    return std::max<std::int64_t>(0, what.after.sales - what.before.stock);
}

std::size_t writes(const run& what) {
    return static_cast<std::size_t>(std::count_if(what.actions.begin(), what.actions.end(), wrote));
}

std::string verdict(const run& what) {
    std::string found;
    if (what.what == experiment::phones) {
        found = fmt::format("{} row{} for one phone number", what.after.rows,
                            what.after.rows == 1 ? "" : "s");
    } else {
        found = fmt::format("{} sold of {}, and the stock says {}", what.after.sales,
                            what.before.stock, what.after.stock);
    }
    if (what.overlaps > 0) found += fmt::format("; {} holds overlapped", what.overlaps);
    if (what.failures > 0) found += fmt::format("; {} actions failed", what.failures);
    return found;
}

std::string moment(const run& what, time_point at) {
    const std::chrono::duration<double, std::milli> since = at - what.started;
    return fmt::format("{:.1f} ms", since.count());
}

}  // namespace holdfast::cli::demo
