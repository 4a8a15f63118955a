#include "stores/lease_table/lease_table.hpp"

#include <algorithm>
#include <limits>

#include "support/planted.hpp"

namespace holdfast::lease_table {
namespace {

// One admission rule for every kind: the weights of the live holds, of the earlier waiters and of
// the claim itself may not exceed the capacity. A mutex is the exclusive side of a shared mutex.
constexpr std::uint64_t plain_capacity = std::numeric_limits<std::uint32_t>::max();

bool counts_permits(kind what) {
    return what == kind::semaphore;
}

std::uint64_t capacity_of(const lock_rows& rows) {
    return counts_permits(rows.what) ? rows.capacity : plain_capacity;
}

template <class Row>
std::uint64_t weight(const lock_rows& rows, const Row& row) {
    if (counts_permits(rows.what) || row.permits == 0) return row.permits;
    return row.how == access::exclusive ? plain_capacity : 1;
}

std::uint64_t in_use(const lock_rows& rows) {
    std::uint64_t sum = 0;
    for (const auto& hold : rows.holds) sum += weight(rows, hold);
    return sum;
}

bool dead(const moment& at, const client_id& client) {
    return client != at.self && at.processes != nullptr && !at.processes->alive(client);
}

bool passed_over(const waiter_row& waiter, const moment& at) {
    return waiter.called && at.now - *waiter.called > patience;
}

auto find_hold(lock_rows& rows, const claim_id& id) {
    return std::ranges::find(rows.holds, id, &hold_row::claim);
}

auto find_waiter(lock_rows& rows, const claim_id& id) {
    return std::ranges::find(rows.waiters, id, &waiter_row::claim);
}

// Calls the waiters whose turn has come: from the head of the queue, as many as fit together.
// Probes and barging waiters do not stand in the way of those behind them.
void call_waiters(lock_rows& rows, const moment& at, consequences& then) {
    const std::uint64_t held = in_use(rows);
    std::uint64_t used = held;
    bool blocked = false;
    for (auto& waiter : rows.waiters) {
        const bool orderly = waiter.permits != 0 && waiter.next != order::barging;
        if (waiter.permits == 0 ? held != 0 : used + weight(rows, waiter) > capacity_of(rows)) {
            blocked = blocked || (orderly && !passed_over(waiter, at));
            continue;
        }
        if (orderly && blocked) continue;
        if (!waiter.called) {
            waiter.called = at.now;
            if (!planted(bug::lost_wakeup)) then.wakes.push_back({waiter.client, waiter.claim});
        }
        if (orderly && !passed_over(waiter, at)) used += weight(rows, waiter);
    }
}

void drop_expired(lock_rows& rows, const moment& at, consequences& then) {
    const bool ignore_ends = planted(bug::expiry_ignored_on_renew);
    const auto holds = ignore_ends ? 0 : std::erase_if(rows.holds, [&](const hold_row& hold) {
        return hold.expires <= at.now;
    });
    const auto waiters = std::erase_if(
        rows.waiters, [&](const waiter_row& waiter) { return waiter.expires <= at.now; });
    if (holds + waiters != 0) call_waiters(rows, at, then);
}

// Bound holds of dead processes. True if there were any.
bool drop_dead_holds(lock_rows& rows, const moment& at) {
    return std::erase_if(rows.holds, [&](const hold_row& hold) {
               return hold.bound && dead(at, hold.client);
           }) != 0;
}

// The weights of the waiters that the claim may not overtake.
std::uint64_t waiting_before(const lock_rows& rows, const claim& request, const moment& at) {
    if (request.next == order::barging || request.permits == 0) return 0;
    std::uint64_t sum = 0;
    for (const auto& waiter : rows.waiters) {
        if (waiter.claim == request.id) break;
        // Who barges waits for no turn, and has none.
        const bool orderly = waiter.permits != 0 && waiter.next != order::barging;
        if (orderly && !passed_over(waiter, at)) sum += weight(rows, waiter);
    }
    return sum;
}

bool fits(const lock_rows& rows, const claim& request, const moment& at) {
    if (request.permits == 0) return rows.holds.empty();
    return in_use(rows) + waiting_before(rows, request, at) + weight(rows, request) <=
           capacity_of(rows);
}

bool held_against(const lock_rows& rows, const claim& request) {
    if (request.permits == 0) return !rows.holds.empty();
    return in_use(rows) + weight(rows, request) > capacity_of(rows);
}

// Finds out whether those in the way still live; only then is a claim refused.
bool admitted(lock_rows& rows, const claim& request, const moment& at, consequences& then) {
    if (fits(rows, request, at)) return true;
    if (drop_dead_holds(rows, at)) call_waiters(rows, at, then);
    if (fits(rows, request, at)) return true;
    if (held_against(rows, request)) return false;
    std::erase_if(rows.waiters, [&](const waiter_row& waiter) { return dead(at, waiter.client); });
    return fits(rows, request, at);
}

std::optional<failure> mismatch(const lock_rows& rows, const claim& request) {
    if (request.permits == 0 || (rows.holds.empty() && rows.waiters.empty())) return {};
    if (counts_permits(rows.what) != counts_permits(request.what)) {
        return failure{.code = errc::mismatch,
                       .detail = std::string("the name is in use as a ") + to_string(rows.what) +
                                 ", not as a " + to_string(request.what),
                       .lock = request.name};
    }
    if (counts_permits(rows.what) && rows.capacity != request.capacity) {
        return failure{.code = errc::mismatch,
                       .detail = "the semaphore is in use with a capacity of " +
                                 std::to_string(rows.capacity) + ", not " +
                                 std::to_string(request.capacity),
                       .lock = request.name};
    }
    return {};
}

granted grant(lock_rows& rows, const claim& request, const moment& at, consequences& then) {
    std::erase_if(rows.waiters,
                  [&](const waiter_row& waiter) { return waiter.claim == request.id; });
    if (request.permits == 0) return {.token = {}, .tokens = 0, .remaining = {}};
    auto first = std::max(rows.token.value(), at.floor.value()) + 1;
    if (planted(bug::token_not_raised)) first = std::max<std::uint64_t>(rows.token.value(), 1);
    rows.token = fencing_token{first + request.tokens - 1};
    rows.holds.push_back({.claim = request.id,
                          .client = at.self,
                          .bound = true,
                          .how = request.how,
                          .permits = request.permits,
                          .token = fencing_token{first},
                          .tokens = request.tokens,
                          .granted = at.now,
                          .expires = at.now + request.ttl,
                          .owner = request.owner});
    if (!rows.waiters.empty()) call_waiters(rows, at, then);
    return {.token = fencing_token{first}, .tokens = request.tokens, .remaining = request.ttl};
}

void enqueue(lock_rows& rows, const claim& request, const moment& at) {
    auto own = find_waiter(rows, request.id);
    if (own == rows.waiters.end()) {
        const auto ticket = rows.waiters.empty() ? 1 : rows.waiters.back().ticket + 1;
        rows.waiters.push_back({.ticket = ticket,
                                .claim = request.id,
                                .client = at.self,
                                .how = request.how,
                                .next = request.next,
                                .permits = request.permits,
                                .since = at.now,
                                .owner = request.owner});
        own = rows.waiters.end() - 1;
    }
    own->expires = at.now + waiter_ttl;
    own->called.reset();
}

// A waiter watches only its living predecessor, the first one the holders: each death wakes one.
void choose_watch(lock_rows& rows, const claim& request, const moment& at, consequences& then) {
    auto own = find_waiter(rows, request.id);
    while (own != rows.waiters.begin() && request.permits != 0) {
        const auto before = own - 1;
        if (!dead(at, before->client)) {
            then.watch.push_back(before->client);
            return;
        }
        own = rows.waiters.erase(before);
    }
    for (const auto& hold : rows.holds) {
        if (hold.bound && std::ranges::find(then.watch, hold.client) == then.watch.end()) {
            then.watch.push_back(hold.client);
        }
    }
}

refused refuse(lock_rows& rows, const claim& request, const moment& at, consequences& then) {
    refused answer{.holder = {}, .retry_after = poll_max, .cursor = 0};
    if (request.waits) {
        enqueue(rows, request, at);
        choose_watch(rows, request, at, then);
    }
    // Whoever is in the way now, and may have vanished, has its patience start now.
    call_waiters(rows, at, then);
    for (const auto& hold : rows.holds) {
        const duration left = hold.expires - at.now;
        answer.retry_after = std::min(answer.retry_after, left);
        if (!answer.holder) answer.holder = holder_info{hold.owner, hold.token, left};
    }
    for (const auto& waiter : rows.waiters) {
        if (!waiter.called || waiter.claim == request.id) continue;
        const duration left = *waiter.called + patience - at.now;
        if (left > duration::zero()) answer.retry_after = std::min(answer.retry_after, left);
    }
    return answer;
}

renewal_reply gone(const lock_rows& rows, bool just_expired) {
    loss_reason why = just_expired ? loss_reason::expired : loss_reason::removed;
    for (const auto& hold : rows.holds) {
        if (hold.how == access::exclusive) why = loss_reason::taken_over;
    }
    return {.lost = why};
}

renewal_reply describe_renewed(const lock_rows& rows, const hold_row& hold, const moment& at) {
    return {.remaining = hold.expires - at.now,
            .lost = loss_reason::none,
            .how = hold.how,
            .what = rows.what,
            .permits = hold.permits};
}

bool carries(const hold_row& hold, fencing_token token) {
    return token >= hold.token && token.value() < hold.token.value() + hold.tokens;
}

// The live hold that the request means, or none and the reason.
hold_row* find_live(lock_rows& rows, const renewal_request& request, const moment& at,
                    consequences& then, renewal_reply& otherwise) {
    const auto before = find_hold(rows, request.hold.id);
    const bool was_there = before != rows.holds.end();
    drop_expired(rows, at, then);
    const auto found = find_hold(rows, request.hold.id);
    if (found == rows.holds.end()) {
        otherwise = gone(rows, was_there);
        return nullptr;
    }
    if (request.token != fencing_token{} && !carries(*found, request.token)) {
        otherwise = {.lost = loss_reason::taken_over};
        return nullptr;
    }
    // A detached hold is attached once: two clients that have its ticket would both believe in it.
    if (request.bind == binding::attach && found->bound && found->client != at.self) {
        otherwise = {.lost = loss_reason::taken_over};
        return nullptr;
    }
    return &*found;
}

void extend(hold_row& hold, const renewal_request& request, const moment& at) {
    hold.expires = std::max(hold.expires, at.now + request.ttl);
    if (request.bind == binding::detach) hold.bound = false;
    if (request.bind == binding::attach) {
        hold.bound = true;
        hold.client = at.self;
    }
}

}  // namespace

capabilities facts() {
    return {.fencing = true,
            .token_blocks = true,
            .shared = true,
            .semaphores = true,
            .fair = true,
            .inspect = true,
            .evict = true,
            .process_bound = true,
            .ttl_min = std::chrono::milliseconds{10},
            .ttl_max = std::chrono::hours{24},
            .poll_max = poll_max,
            .drift_ppm = 0,
            .batch_max = 1000};
}

result<acquire_reply> acquire(lock_rows& rows, const claim& request, const moment& at,
                              consequences& then) {
    drop_expired(rows, at, then);
    if (const auto held = find_hold(rows, request.id); held != rows.holds.end()) {
        return acquire_reply{granted{held->token, held->tokens, held->expires - at.now}};
    }
    if (auto wrong = mismatch(rows, request)) {
        drop_dead_holds(rows, at);
        if ((wrong = mismatch(rows, request))) return *std::move(wrong);
    }
    if (rows.holds.empty() && rows.waiters.empty()) {
        rows.what = request.what;
        rows.capacity = request.capacity;
    } else if (request.what == kind::shared_mutex) {
        rows.what = kind::shared_mutex;
    }
    if (admitted(rows, request, at, then)) return acquire_reply{grant(rows, request, at, then)};
    return acquire_reply{refuse(rows, request, at, then)};
}

renewal_reply renew(lock_rows& rows, const renewal_request& request, const moment& at,
                    consequences& then) {
    renewal_reply otherwise;
    hold_row* hold = find_live(rows, request, at, then, otherwise);
    if (hold == nullptr) return otherwise;
    extend(*hold, request, at);
    return describe_renewed(rows, *hold, at);
}

release_reply release(lock_rows& rows, const claim_id& id, const moment& at, consequences& then) {
    drop_expired(rows, at, then);
    auto hold = find_hold(rows, id);
    if (planted(bug::release_without_claim_check) && !rows.holds.empty()) hold = rows.holds.begin();
    if (hold != rows.holds.end()) {
        rows.holds.erase(hold);
        call_waiters(rows, at, then);
        return release_reply::released;
    }
    const auto waiter = find_waiter(rows, id);
    if (waiter == rows.waiters.end()) return release_reply::not_held;
    // The next one watched this one: it must look for another predecessor, or for the holder.
    const auto next = rows.waiters.erase(waiter);
    if (next != rows.waiters.end()) then.wakes.push_back({next->client, next->claim});
    call_waiters(rows, at, then);
    return release_reply::released;
}

renewal_reply downgrade(lock_rows& rows, const renewal_request& request, const moment& at,
                        consequences& then) {
    renewal_reply otherwise;
    hold_row* hold = find_live(rows, request, at, then, otherwise);
    if (hold == nullptr) return otherwise;
    extend(*hold, request, at);
    hold->how = access::shared;
    rows.what = kind::shared_mutex;
    const auto answer = describe_renewed(rows, *hold, at);
    call_waiters(rows, at, then);
    return answer;
}

std::optional<holder_record> evict(lock_rows& rows, fencing_token token, const moment& at,
                                   consequences& then) {
    drop_expired(rows, at, then);
    const auto found = std::ranges::find_if(
        rows.holds, [&](const hold_row& hold) { return carries(hold, token); });
    if (found == rows.holds.end()) return {};
    const lock_record before = describe({}, rows, at);
    const claim_id id = found->claim;
    rows.holds.erase(found);
    rows.token = fencing_token{rows.token.value() + 1};
    call_waiters(rows, at, then);
    const auto shown = std::ranges::find(before.holders, id, &holder_record::claim);
    return shown == before.holders.end() ? std::optional<holder_record>{holder_record{.claim = id}}
                                         : *shown;
}

void forget_client(lock_rows& rows, const client_id& client, const moment& at, consequences& then) {
    const auto holds = std::erase_if(
        rows.holds, [&](const hold_row& hold) { return hold.bound && hold.client == client; });
    for (std::size_t i = 0; i < rows.waiters.size();) {
        if (rows.waiters[i].client != client) {
            ++i;
            continue;
        }
        rows.waiters.erase(rows.waiters.begin() + static_cast<std::ptrdiff_t>(i));
        if (i < rows.waiters.size()) {
            then.wakes.push_back({rows.waiters[i].client, rows.waiters[i].claim});
        }
    }
    if (holds != 0 || !then.wakes.empty()) call_waiters(rows, at, then);
}

lock_record describe(const std::string& name, const lock_rows& rows, const moment& at) {
    lock_record record{.name = name,
                       .what = rows.what,
                       .capacity = rows.capacity,
                       .token = rows.token,
                       .holders = {},
                       .waiters = {}};
    for (const auto& hold : rows.holds) {
        if (hold.expires <= at.now || (hold.bound && dead(at, hold.client))) continue;
        record.holders.push_back({.claim = hold.claim,
                                  .owner = hold.owner,
                                  .token = hold.token,
                                  .token_last = fencing_token{hold.token.value() + hold.tokens - 1},
                                  .how = hold.how,
                                  .permits = hold.permits,
                                  .held_for = at.now - hold.granted,
                                  .remaining = hold.expires - at.now,
                                  .bound = hold.bound});
    }
    for (const auto& waiter : rows.waiters) {
        if (waiter.expires <= at.now || dead(at, waiter.client) || waiter.permits == 0) continue;
        record.waiters.push_back({.claim = waiter.claim,
                                  .owner = waiter.owner,
                                  .how = waiter.how,
                                  .permits = waiter.permits,
                                  .waiting_for = at.now - waiter.since});
    }
    return record;
}

}  // namespace holdfast::lease_table
