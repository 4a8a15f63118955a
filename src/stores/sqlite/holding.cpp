// The verbs of those who hold: renew, release, downgrade; and the pruning of what nobody holds.
#include <utility>

#include "stores/sqlite/attempt.hpp"
#include "stores/sqlite/store.hpp"

namespace holdfast::sqlite {
namespace {

constexpr std::uint32_t releases_per_pruning = 1000;
constexpr auto idle_max = std::chrono::hours{24};
constexpr std::int64_t looked_at_per_pruning = 1000;
constexpr std::size_t pruned_max = 100;

}  // namespace

// --- renew ---

void sqlite_store::renew(call_id call, std::span<const renewal_request> requests) {
    auto& events = doorbell_->events();
    if (forked()) return events.renewed(call, forked_failure());
    const auto pass = doorbell_->gate().enter();
    if (!pass) return;
    consequences then;
    auto answer = attempt([&]() -> result<std::vector<renewal_reply>> {
        // Whoever holds must be seen to live, also if somebody has removed our FIFO meanwhile.
        require_files();
        return renew_all(requests, then);
    });
    if (answer) deliver(then);
    events.renewed(call, std::move(answer));
    tidy_up();
}

std::vector<renewal_reply> sqlite_store::renew_all(std::span<const renewal_request> requests,
                                                   consequences& then) {
    std::vector<renewal_reply> replies;
    replies.reserve(requests.size());
    transaction step{*database_};
    bool changed = false;
    const auto now = database_->now();
    for (const auto& request : requests) {
        if (renew_plain(request, now)) {
            replies.push_back({.remaining = request.ttl});
            changed = true;
            continue;
        }
        const auto at = begin_step(request.hold.name);
        replies.push_back(lease_table::renew(rows_.rows(), request, at, then));
        if (end_step(request.hold.name, at)) changed = true;
    }
    if (changed) step.commit();
    return replies;
}

// The rules prolong a hold that has not ended. One statement does so for the exclusive hold of a
// mutex, whose reply has nothing else to tell.
bool sqlite_store::renew_plain(const renewal_request& request, time_point now) {
    if (request.bind != binding::keep || request.token != fencing_token{}) return false;
    running renewal{prepared(*database_, query::renew_plain)};
    renewal->bind_blob(1, request.hold.name)
        .bind(2, request.hold.id)
        .bind(3, now + request.ttl)
        .bind(4, now + duration{1})
        .bind(5, places_.find(request.hold.name))
        .step();
    return database_->changes() != 0;
}

// --- release ---

void sqlite_store::release(call_id call, std::span<const hold_ref> holds) {
    auto& events = doorbell_->events();
    if (forked()) return events.released(call, forked_failure());
    const auto pass = doorbell_->gate().enter();
    if (!pass) return;
    consequences then;
    bool some_wait = false;
    auto answer = attempt([&]() -> result<std::vector<release_reply>> {
        some_wait = !queued_.empty();
        return release_all(holds, then);
    });
    if (answer) deliver(then);
    if (answer && some_wait) {
        for (const auto& hold : holds) doorbell_->forget(hold.id);
    }
    events.released(call, std::move(answer));
    tidy_up();
    const auto count = static_cast<std::uint32_t>(holds.size());
    const auto before = releases_.fetch_add(count);
    if (before / releases_per_pruning != (before + count) / releases_per_pruning) prune(idle_max);
}

std::vector<release_reply> sqlite_store::release_all(std::span<const hold_ref> holds,
                                                     consequences& then) {
    std::vector<release_reply> replies;
    replies.reserve(holds.size());
    // One hold needs no transaction around its statement.
    if (holds.size() == 1 && release_plain(holds.front(), then)) {
        replies.push_back(release_reply::released);
        return replies;
    }
    transaction step{*database_};
    bool changed = false;
    for (const auto& hold : holds) {
        if (holds.size() != 1 && release_plain(hold, then)) {
            replies.push_back(release_reply::released);
            changed = true;
            continue;
        }
        const auto at = begin_step(hold.name);
        replies.push_back(lease_table::release(rows_.rows(), hold.id, at, then));
        if (end_step(hold.name, at)) changed = true;
    }
    if (changed) step.commit();
    for (const auto& hold : holds) queued_.erase(hold.id);
    return replies;
}

// The rules free the only hold of a name, if it has not ended, and call the only waiter.
bool sqlite_store::release_plain(const hold_ref& hold, consequences& then) {
    statement& freeing = prepared(*database_, query::release_plain);
    freeing.bind_blob(1, hold.name)
        .bind(2, hold.id)
        .bind(3, database_->now())
        .bind(4, places_.find(hold.name))
        .step_alone();
    if (database_->changes() == 0) return false;
    if (const auto next = database_->take_called()) then.wakes.push_back(*next);
    return true;
}

// --- downgrade ---

void sqlite_store::downgrade(call_id call, const renewal_request& request) {
    auto& events = doorbell_->events();
    if (forked()) return events.downgraded(call, forked_failure());
    const auto pass = doorbell_->gate().enter();
    if (!pass) return;
    consequences then;
    auto answer = attempt([&]() -> result<renewal_reply> {
        require_files();
        transaction step{*database_};
        const auto at = begin_step(request.hold.name);
        const auto reply = lease_table::downgrade(rows_.rows(), request, at, then);
        if (end_step(request.hold.name, at)) step.commit();
        return reply;
    });
    if (answer) deliver(then);
    if (!answer) answer.error().lock = request.hold.name;
    events.downgraded(call, std::move(answer));
    tidy_up();
}

// --- pruning ---

// Rows stay after release because of their tokens; those of names that are never used again would
// stay for ever. So they go after a while, and the floor of all tokens takes their place.
void sqlite_store::prune(duration idle) {
    static_cast<void>(attempt([&]() -> result<void> {
        transaction step{*database_};
        const auto now = database_->now();
        std::vector<std::int64_t> idle_rows;
        std::int64_t greatest = 0;
        std::int64_t last = 0;
        std::int64_t seen = 0;
        {
            running row{prepared(*database_, query::idle_after)};
            row->bind(1, prune_after_).bind(2, now - idle).bind(3, now);
            row->bind(4, looked_at_per_pruning);
            while (idle_rows.size() < pruned_max && row->step()) {
                ++seen;
                last = row->number(0);
                if (row->number(2) == 0) continue;
                idle_rows.push_back(last);
                greatest = std::max(greatest, row->number(1));
            }
        }
        const bool more = seen == looked_at_per_pruning || idle_rows.size() == pruned_max;
        prune_after_ = more ? last : 0;  // at the end: from the start again
        if (idle_rows.empty()) return {};
        for (const auto id : idle_rows) prepared(*database_, query::delete_lock).bind(1, id).step();
        prepared(*database_, query::raise_floor).bind(1, greatest).step();
        step.commit();
        return {};
    }));
}

}  // namespace holdfast::sqlite
