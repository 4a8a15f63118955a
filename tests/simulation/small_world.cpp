#include "simulation/small_world.hpp"

#include <algorithm>

#include "simulation/link.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

constexpr duration ttl = 3s;
constexpr unsigned steps_max = 500;
const char* const lock_name = "lock";

}  // namespace

std::size_t choices::choose(std::size_t count) {
    if (count < 2) return 0;
    if (depth_ == path_.size()) path_.push_back({0, count});
    return path_[depth_++].taken;
}

bool choices::next() {
    depth_ = 0;
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
}

std::string choices::text() const {
    std::string line;
    for (const branch& each : path_) line += std::to_string(each.taken) + ' ';
    return line;
}

small_world::small_world(const small_world_plan& of, choices& way)
    : plan_(of), way_(way), faults_left_(of.faults_max), audit_(*this), server_(*this, audit_) {
    audit_.watch(server_);
    if (plan_.knows_processes) server_.sees_deaths();
    server_.on_wake([this](const lease_table::wake& wake) {
        for (client& each : clients_) {
            if (!each.at->alive() || each.at->id() != wake.client) continue;
            to_client(*each.at, message::hint,
                      [&at = *each.at, id = wake.claim] { at.store().woken(id); });
        }
    });
    for (unsigned i = 0; i < 2; ++i) {
        clients_[i].at = std::make_unique<node>(*this, server_, audit_, i);
        start(clients_[i], plan_.parts[i]);
    }
}

small_world::~small_world() {
    for (client& each : clients_) each.at->crash();
}

void small_world::start(client& who, const part& what) {
    const capabilities caps{.fencing = true,
                            .token_blocks = true,
                            .shared = true,
                            .fair = true,
                            .ttl_min = 10ms,
                            .ttl_max = 1h,
                            .poll_max = lease_table::poll_max};
    who.at->boot({{who.at->index() + 1U, 0}}, local_clock{}, caps, {});
    user_step(who, [this, &who, what] { acquire(who, what); });
}

std::uint64_t small_world::random_for(const node& who) {
    return (++randoms_[who.index()] * 2 + who.index()) * 0x9e3779b97f4a7c15U;
}

void small_world::user_step(client& who, deed what) {
    const auto where = static_cast<place>(who.at->index());
    const auto from = static_cast<std::size_t>(here_);
    pending_.push_back(
        {++sent_[from] * 4 + from, where, who.at.get(), who.at->life(), std::move(what)});
}

// Whether a message is lost or repeated is decided when it is sent: nobody can tell the difference.
void small_world::send(place to, node& at, deed arrive, bool may_repeat) {
    const auto from = static_cast<std::size_t>(here_);
    const std::uint64_t id = ++sent_[from] * 4 + from;
    const std::size_t happens = faults_left_ == 0 ? 0 : way_.choose(may_repeat ? 3 : 2);
    if (happens != 0) strike();
    if (happens == 1) return;
    pending one{id, to, &at, at.life(), std::move(arrive)};
    if (happens == 2) {
        pending_.push_back(one);
        one.id = ++sent_[from] * 4 + from;
    }
    pending_.push_back(std::move(one));
}

void small_world::acquire(client& who, const part& what) {
    core::request asked;
    asked.what.name = lock_name;
    asked.what.what = kind::shared_mutex;
    asked.what.how = what.how;
    asked.what.ttl = ttl;
    asked.try_only = what.try_only;
    if (!what.try_only) asked.give_up = now() + 4 * ttl;
    who.op = who.at->engine().acquire(asked, [this, &who](result<core::hold_ptr> how) {
        if (++who.ends > 1) audit_.fail(checker::once, "an acquisition ended twice");
        if (!how) return;
        who.held = *how;
        audit_.acquired(*who.at, who.held, true);
        user_step(who, [this, &who] { release(who); });
    });
    if (!what.may_cancel) return;
    user_step(who, [this, &who] {
        who.at->engine().cancel(who.op);
        if (who.ends == 0) audit_.fail(checker::liveness, "cancelled in vain");
    });
}

void small_world::release(client& who) {
    const auto held = std::exchange(who.held, nullptr);
    who.at->engine().release(held, [](const result<void>&) {});
    audit_.dropped(held);
}

void small_world::to_server(node& from, deed arrive) {
    send(place::store, from, std::move(arrive), true);
}

void small_world::to_client(node& to, message, deed arrive) {
    send(static_cast<place>(to.index()), to, std::move(arrive), false);
}

void small_world::set_alarm(node& of, time_point when) {
    time_point& alarm = owner(of).alarm;
    alarm = std::min(alarm, when);
}

std::vector<small_world::option> small_world::options() const {
    std::vector<option> all;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        all.push_back({option::sort::deliver, pending_[i].where, pending_[i].id, i});
    }
    // Time stands still while there is something to do; else somebody is late.
    if (pending_.empty() || faults_left_ != 0) {
        all.push_back({option::sort::wait, place::everywhere, 0, 0});
    }
    if (faults_left_ == 0) return all;
    for (std::size_t i = 0; i < 2; ++i) {
        const client& each = clients_[i];
        if (!each.at->alive() || each.at->paused()) continue;
        const auto where = static_cast<place>(i);
        all.push_back({option::sort::pause, where, 1, i});
        const auto felt = plan_.knows_processes ? place::everywhere : where;
        all.push_back({option::sort::crash, felt, 2, i});
    }
    return all;
}

// Sleep sets: what was tried before and does not depend on what is done now need not follow it.
bool small_world::choose() {
    const auto same = [](const option& left, const option& right) {
        return left.what == right.what && left.where == right.where && left.id == right.id;
    };
    auto all = options();
    std::erase_if(all, [&](const option& each) {
        return std::ranges::any_of(asleep_, [&](const option& other) { return same(each, other); });
    });
    if (all.empty()) return false;
    const std::size_t chosen = way_.choose(all.size());
    const option way = all[chosen];
    asleep_.insert(asleep_.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(chosen));
    std::erase_if(asleep_, [&](const option& each) {
        return each.where == way.where || each.where == place::everywhere ||
               way.where == place::everywhere;
    });
    take(way);
    return true;
}

void small_world::strike() {
    --faults_left_;
    // From here on a loss has its reasons.
    for (client& each : clients_) each.at->trouble = time_point::max() - 1h;
}

void small_world::take(const option& way) {
    here_ = way.where;
    client& who = clients_[way.index % 2];
    switch (way.what) {
        case option::sort::deliver:
            return deliver(way.index);
        case option::sort::wait:
            if (!pending_.empty()) strike();
            return pass_time();
        case option::sort::pause:
            strike();
            who.at->pause();
            who.paused_until = now_ + ttl * 3 / 2;
            return;
        case option::sort::crash:
            strike();
            who.at->crash();
            who.held.reset();
            return;
    }
}

void small_world::deliver(std::size_t index) {
    const auto at = pending_.begin() + static_cast<std::ptrdiff_t>(index);
    pending one = std::move(*at);
    pending_.erase(at);
    if (one.where == place::store) return one.arrive();
    if (one.at->life() == one.life) one.at->run(std::move(one.arrive));
}

time_point small_world::next_moment() const {
    time_point next = time_point::max();
    for (const client& each : clients_) {
        if (!each.at->alive()) continue;
        next = std::min(next, each.at->paused() ? each.paused_until : each.alarm);
    }
    return next;
}

// To the next timer, or to the end of a pause.
void small_world::pass_time() {
    const time_point next = next_moment();
    if (next == time_point::max()) return;
    now_ = std::max(now_, next);
    for (client& each : clients_) {
        if (!each.at->alive()) continue;
        if (each.at->paused()) {
            if (each.paused_until > now_) continue;
            each.alarm = time_point::max();
            each.at->resume(way_.choose(2) == 1);
        } else if (each.alarm <= now_) {
            each.alarm = time_point::max();
            each.at->alarm();
        }
    }
}

bool small_world::rest() {
    return pending_.empty() && next_moment() == time_point::max();
}

// Everything has been said and done: nobody waits, and nothing is left.
void small_world::finish() {
    faults_left_ = 0;
    for (client& each : clients_) {
        if (!each.at->alive()) continue;
        if (each.ends != 1) audit_.fail(checker::liveness, "an acquisition did not end");
        each.at->run([&each] { each.at->engine().close(); });
    }
    while (!pending_.empty()) deliver(0);
    now_ += ttl + lease_table::waiter_ttl;
    for (const auto& line : server_.left()) audit_.fail(checker::leak, line);
    for (client& each : clients_) {
        each.at->alarm();
        if (each.at->alive() && each.at->engine().tracked() != 0) {
            audit_.fail(checker::leak, "left in a client");
        }
    }
}

std::optional<violation> small_world::run() {
    while (!audit_.found() && !rest()) {
        if (!choose()) return pruned_ = true, std::nullopt;
        if (++steps_ > steps_max) audit_.fail(checker::liveness, "it does not come to rest");
    }
    if (!audit_.found()) finish();
    return audit_.found();
}

}  // namespace holdfast::simulation
