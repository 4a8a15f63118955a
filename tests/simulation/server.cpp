#include "simulation/server.hpp"

#include <algorithm>

#include "simulation/audit.hpp"

namespace holdfast::simulation {

using lease_table::consequences;
using lease_table::hold_row;

namespace {

std::string short_form(const claim_id& id) {
    return to_string(id).substr(0, 4);
}

std::string short_form(const result<acquire_reply>& answer) {
    if (!answer) return answer.error().message();
    const auto* yes = std::get_if<granted>(&*answer);
    return yes == nullptr ? "refused" : "granted " + std::to_string(yes->token.value());
}

}  // namespace

void server::tell(const char* verb, const claim_id& id, const std::string& answer) {
    if (world_.tells())
        world_.tell(std::string("store: ") + verb + ' ' + short_form(id) + ' ' + answer);
}

server::entry& server::entry_of(const std::string& name) {
    return names_[name];
}

lease_table::moment server::moment_for(const client_id& client) const {
    return {.now = clock(),
            .self = client,
            .processes = sees_deaths_ ? this : nullptr,
            .floor = floor_};
}

bool server::live(const hold_row& row) const {
    const bool dead = sees_deaths_ && row.bound && !living_.contains(row.client);
    return row.expires > clock() && !dead;
}

// After each step: what was held is still held unless this step ended it, and not by too many.
void server::settle(const std::string& name, entry& of, const std::vector<hold_row>& before,
                    const claim_id& ended, const consequences& then) {
    ++operations;
    for (const auto& row : before) {
        if (row.claim == ended || !live(row)) continue;
        const auto after = std::ranges::find(of.rows.holds, row.claim, &hold_row::claim);
        if (after == of.rows.holds.end()) {
            audit_.fail(checker::exact_release, name + ": a hold ended that was not meant");
        } else if (after->expires < row.expires) {
            audit_.fail(checker::renewal, name + ": a hold was shortened");
        }
    }
    std::uint64_t permits = 0;
    std::size_t alone = 0;
    for (const auto& row : of.rows.holds) {
        if (!live(row)) continue;
        permits += row.permits;
        alone += row.how == access::exclusive ? 1U : 0U;
    }
    const bool semaphore = of.rows.what == kind::semaphore;
    const bool too_many = semaphore ? permits > of.rows.capacity
                                    : alone > 1 || (alone == 1 && of.rows.holds.size() > 1);
    if (too_many) audit_.fail(checker::capacity, name + ": held beyond its capacity");
    if (of.rows.holds.empty() && !before.empty()) {
        // Expiry is noticed late, but it is not when the hold ended.
        of.free_since = world_.now();
        of.freed_by_time = false;
        for (const auto& row : before) {
            if (row.expires > clock()) continue;
            of.free_since = std::min(of.free_since, row.expires - leapt_);
            of.freed_by_time = true;
        }
    }
    audit_.look(name);
    for (const auto& wake : then.wakes) wake_(wake);
}

void server::watch(const claim_id& waiting, const client_id& client, const consequences& then) {
    if (!sees_deaths_) return;
    std::erase_if(death_watches_, [&](const auto& each) { return each.second.claim == waiting; });
    for (const auto& watched : then.watch) death_watches_.push_back({watched, {client, waiting}});
}

result<acquire_reply> server::acquire(const client_id& from, const claim& request) {
    entry& of = entry_of(request.name);
    const auto before = of.rows.holds;
    const time_point was_free = free_since(request.name);
    const bool by_time = before.empty() ? of.freed_by_time : true;
    const auto waiter =
        std::ranges::find(of.rows.waiters, request.id, &lease_table::waiter_row::claim);
    const bool waited = waiter != of.rows.waiters.end();
    const time_point since = waited ? waiter->since - leapt_ : world_.now();
    consequences then;
    auto answer = lease_table::acquire(of.rows, request, moment_for(from), then);
    if (answer) watch(request.id, from, then);
    const auto* yes = answer ? std::get_if<granted>(&*answer) : nullptr;
    const bool fresh = yes != nullptr && request.permits != 0 &&
                       std::ranges::none_of(before, [&](const hold_row& row) {
                           return row.claim == request.id && row.expires > clock();
                       });
    if (fresh) {
        ++grants;
        if (yes->token <= of.newest) {
            audit_.fail(checker::token, request.name + ": a grant did not raise the token");
        }
        of.newest = fencing_token{yes->token.value() + yes->tokens - 1};
        if (waited) audit_.granted_after_wait(request.name, std::max(since, was_free), by_time);
    }
    if (world_.tells()) tell("acquire", request.id, short_form(answer));
    settle(request.name, of, before, {}, then);
    return answer;
}

renewal_reply server::prolong(const client_id& from, const renewal_request& request,
                              bool downgrade) {
    entry& of = entry_of(request.hold.name);
    const auto before = of.rows.holds;
    const auto row = std::ranges::find(before, request.hold.id, &hold_row::claim);
    const bool was_live = row != before.end() && row->expires > clock();
    consequences then;
    const auto answer = downgrade ? lease_table::downgrade(of.rows, request, moment_for(from), then)
                                  : lease_table::renew(of.rows, request, moment_for(from), then);
    if (answer.lost == loss_reason::none && !was_live) {
        audit_.fail(checker::revival, request.hold.name + ": a renewal revived an ended hold");
    }
    tell(downgrade ? "downgrade" : "renew", request.hold.id, to_string(answer.lost));
    settle(request.hold.name, of, before, {}, then);
    return answer;
}

std::vector<renewal_reply> server::renew(const client_id& from,
                                         const std::vector<renewal_request>& requests) {
    std::vector<renewal_reply> answers;
    for (const auto& request : requests) answers.push_back(prolong(from, request, false));
    return answers;
}

renewal_reply server::downgrade(const client_id& from, const renewal_request& request) {
    return prolong(from, request, true);
}

std::vector<release_reply> server::release(const client_id& from,
                                           const std::vector<hold_ref>& holds) {
    std::vector<release_reply> answers;
    for (const auto& hold : holds) {
        entry& of = entry_of(hold.name);
        const auto before = of.rows.holds;
        consequences then;
        answers.push_back(lease_table::release(of.rows, hold.id, moment_for(from), then));
        tell("release", hold.id, answers.back() == release_reply::released ? "done" : "not held");
        settle(hold.name, of, before, hold.id, then);
    }
    return answers;
}

void server::died(const client_id& client) {
    living_.erase(client);
    if (!sees_deaths_) return;
    const auto watches = std::exchange(death_watches_, {});
    for (const auto& [watched, waiting] : watches) {
        if (watched == client) {
            wake_(waiting);
        } else {
            death_watches_.emplace_back(watched, waiting);
        }
    }
}

void server::excuse_all() {
    for (const auto& [name, of] : names_) {
        for (const auto& row : of.rows.holds) audit_.excuse(row.claim);
    }
}

void server::forget_everything(bool floor) {
    excuse_all();
    for (auto& [name, of] : names_) {
        if (floor) {
            floor_ = std::max(floor_, of.newest);
        } else {
            of.newest = {};
        }
        of.rows = {};
        of.free_since = world_.now();
    }
    if (!floor) audit_.tokens_restart();
    death_watches_.clear();
}

std::vector<hold_ref> server::end_session(const client_id& client) {
    std::vector<hold_ref> ended;
    for (auto& [name, of] : names_) {
        const auto before = of.rows.holds;
        for (const auto& row : before) {
            if (row.client != client) continue;
            audit_.excuse(row.claim);
            ended.push_back({name, row.claim});
        }
        consequences then;
        lease_table::forget_client(of.rows, client, moment_for(client), then);
        auto others = before;
        std::erase_if(others, [&](const hold_row& row) { return row.client == client; });
        if (of.rows.holds.empty() && !before.empty()) of.free_since = world_.now();
        settle(name, of, others, {}, then);
    }
    return ended;
}

bool server::evict(const std::string& name) {
    entry& of = entry_of(name);
    if (of.rows.holds.empty()) return false;
    const auto before = of.rows.holds;
    const auto victim = before.back();
    audit_.excuse(victim.claim);
    consequences then;
    lease_table::evict(of.rows, victim.token, moment_for({}), then);
    of.newest = std::max(of.newest, of.rows.token);
    settle(name, of, before, victim.claim, then);
    return true;
}

void server::leap(duration by) {
    excuse_all();
    leapt_ += by;
}

std::optional<time_point> server::held_until(const std::string& name, const claim_id& id) const {
    const auto of = names_.find(name);
    if (of == names_.end()) return {};
    const auto row = std::ranges::find(of->second.rows.holds, id, &hold_row::claim);
    if (row == of->second.rows.holds.end()) return {};
    return row->expires - leapt_;
}

time_point server::free_since(const std::string& name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return {};
    time_point latest = found->second.free_since;
    for (const auto& row : found->second.rows.holds) {
        if (live(row)) return time_point::max();
        latest = std::max(latest, std::min(world_.now(), row.expires - leapt_));
    }
    return latest;
}

std::vector<std::string> server::left() const {
    std::vector<std::string> lines;
    for (const auto& [name, of] : names_) {
        for (const auto& row : of.rows.holds) {
            if (live(row))
                lines.push_back(name + ": a hold with token " + std::to_string(row.token.value()));
        }
        for (const auto& row : of.rows.waiters) {
            const bool dead = sees_deaths_ && !living_.contains(row.client);
            if (row.expires > clock() && !dead) lines.push_back(name + ": a waiting claim");
        }
    }
    return lines;
}

}  // namespace holdfast::simulation
