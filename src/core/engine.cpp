#include "core/engine.hpp"

#include <algorithm>

#include "core/actions.hpp"
#include "core/failures.hpp"
#include "core/step.hpp"
#include "support/guarded.hpp"

namespace holdfast::core {
using support::run_guarded;

engine::engine(std::unique_ptr<store> to, std::shared_ptr<host> in, settings how)
    : store_(std::move(to)), host_(std::move(in)), settings_(std::move(how)) {
    store_->start(*this);
}

engine::~engine() {
    stop();
    // A release that waits for a renewal and its hold keep each other alive.
    for (auto& [id, job] : jobs_) {
        if (job->held) job->held->waiting_release.reset();
    }
}

void engine::perform(actions& todo) {
    if (todo.wake_at != time_point::max()) host_->wake_at(todo.wake_at);
    todo.each([this](actions::action& one) { std::visit([this](auto& what) { act(what); }, one); });
    if (todo.idle) todo.idle();
}

void engine::act(do_ask& what) {
    store_->acquire(what.id, *what.what);
}
void engine::act(do_wait& what) {
    store_->wait(what.id, {what.what->name, what.what->id}, what.cursor);
}
void engine::act(do_end_wait& what) {
    store_->end_wait(what.id);
}
void engine::act(do_renew& what) {
    store_->renew(what.id, what.what);
}
void engine::act(do_downgrade& what) {
    store_->downgrade(what.id, what.what);
}
void engine::act(do_release& what) {
    store_->release(what.id, what.what);
}
void engine::act(do_tell_risk& what) {
    host_->tell([held = what.held] { held->at_risk.request_stop(); });
}
void engine::act(do_tell_lost& what) {
    host_->tell([held = what.held] { held->tell_lost(); });
}
void engine::act(do_emit& what) {
    host_->tell([watch = settings_.watch, told = what.it] {
        run_guarded([&] { watch->on_event(told->what); });
    });
}
void engine::act(do_done& what) {
    if (what.then) run_guarded([&] { what.then(std::move(what.outcome)); });
}
void engine::act(do_finish& what) {
    const hold_ptr got = what.outcome ? *what.outcome : nullptr;
    bool taken = false;
    run_guarded([&] {
        what.then(std::move(what.outcome));
        taken = true;
    });
    if (got && !taken) abandon(got);
}

void engine::emit(actions& out, event what, const std::string& lock, std::optional<failure> why,
                  std::optional<holder_info> holder) {
    if (!settings_.watch) return;
    run_guarded([&] {
        auto body = std::make_shared<do_emit::body>();
        *body = {what, lock, std::move(why), std::move(holder)};
        body->what.lock = body->lock;
        if (body->why) body->what.why = &*body->why;
        if (body->holder) body->what.holder = &*body->holder;
        out.add(do_emit{std::move(body)});
    });
}

call_id engine::start_call(const std::shared_ptr<call>& started) {
    started->id = ++next_id_;
    started->asked = now_;
    calls_.put(started->id, started);
    return started->id;
}

std::shared_ptr<call> engine::take_call(call_id id) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return {};
    auto taken = calls_.take(found);
    timers_.cancel(*taken);
    return taken;
}

duration engine::call_limit(duration ttl) const {
    return std::clamp<duration>(ttl / 3, std::chrono::milliseconds{10}, std::chrono::seconds{5});
}

// Exponential with jitter, so that clients that failed together do not come back together.
duration engine::backoff(std::uint32_t failures, duration longest) {
    const auto step = std::chrono::milliseconds{10} * (1U << std::min(failures, 7U));
    const auto limit = std::min<duration>(step, longest);
    return limit / 2 + limit / 2 * static_cast<int>(host_->random() % 1024) / 1024;
}

lane& engine::lane_of(const std::string& name) {
    const auto [found, made] = lanes_.try_emplace(name);
    if (made) found->second.name = &found->first;
    return found->second;
}

void engine::drop_if_empty(lane& l) {
    const bool asked_for = !l.queue.empty() || !l.probes.empty();
    if (!asked_for && l.holds.empty() && l.reentrant.empty() && l.releasing == 0) {
        lanes_.drop(lanes_.find(*l.name));
    }
}

void engine::run_due() {
    step([this](actions& out) {
        armed_ = time_point::max();
        while (timed* due = timers_.pop_due(now_)) due->fall_due(*this, out);
    });
}

void engine::close() {
    step([this](actions& out) {
        if (std::exchange(closed_, true)) return;
        std::vector<std::shared_ptr<op>> waiting;
        waiting.reserve(ops_.size());
        for (auto& [id, o] : ops_) waiting.push_back(o);
        std::ranges::sort(waiting, {}, &op::id);
        for (auto& o : waiting) {
            if (o->status == op::state::finished) continue;
            give_up(o, shut_down(), out);
        }
        std::vector<hold*> held;
        for (auto& [name, l] : lanes_) held.insert(held.end(), l.holds.begin(), l.holds.end());
        for (hold* h : held) {
            lose(*h, loss_reason::shut_down, out);
            start_release(make_job(*h));
        }
    });
}

std::size_t engine::unfinished() {
    std::lock_guard guard{mutex_};
    return ops_.size() + jobs_.size();
}

bool engine::closed() const {
    std::lock_guard guard{mutex_};
    return closed_;
}

std::size_t engine::tracked() const {
    std::lock_guard guard{mutex_};
    return lanes_.size() + ops_.size() + jobs_.size() + calls_.size();
}

void engine::on_idle(std::function<void()> idle) {
    std::lock_guard guard{mutex_};
    idle_ = std::move(idle);
}

void engine::stop() noexcept {
    {
        std::lock_guard guard{mutex_};
        if (std::exchange(stopped_, true)) return;
    }
    store_->stop();
}

// What could not be sent, because memory ran out, is sent by the next step. That will come.
void engine::keep_due() noexcept {
    if (renewals_due_.empty() && releases_due_.empty()) return;
    const time_point soon = now_ + std::chrono::milliseconds{10};
    run_guarded([&] { timers_.schedule(later_, std::min(soon, timers_.next())); });
}

// Nobody can speak for the hold any more, because memory ran out on the way to its owner or from
// it. Nothing points to it from here on; the store ends it by its ttl.
void engine::abandon(const hold_ptr& held) noexcept {
    run_guarded([&] {
        step([&](actions& out) {
            hold& h = *held;
            timers_.cancel(h);
            if (h.status == hold::state::held) h.status = hold::state::released;
            lane* l = std::exchange(h.where, nullptr);
            if (l == nullptr) return;
            std::erase(l->holds, &h);
            forget_reentrant(h, *l);
            advance(*l, out);
        });
    });
}

std::uint32_t engine::hold_count(const std::string& name, owner_id owner) {
    std::lock_guard guard{mutex_};
    const auto found = lanes_.find(name);
    if (found == lanes_.end()) return 0;
    for (const hold* h : found->second.reentrant) {
        if (h->owner == owner && h->valid(host_->now())) return h->count;
    }
    return 0;
}

}  // namespace holdfast::core
