// Releasing: exact, retried until it is certain, or passed on inside the process.
#include <algorithm>

#include "core/actions.hpp"
#include "core/engine.hpp"
#include "core/failures.hpp"
#include "core/step.hpp"
#include "support/planted.hpp"

namespace holdfast::core {

void engine::enter_lane(const hold_ptr& h) {
    lane& l = lane_of(h->asked->name);
    try {
        l.holds.push_back(h.get());
        if (h->reentrant) l.reentrant.push_back(h.get());
        schedule_hold(*h);
        h->where = &l;
    } catch (...) {
        std::erase(l.holds, h.get());
        forget_reentrant(*h, l);
        drop_if_empty(l);
        throw;
    }
}

// The hold no longer keeps others of this process out.
void engine::leave_lane(hold& h, actions& out) {
    if (h.where == nullptr) return;
    lane& l = *h.where;
    std::erase(l.holds, &h);
    if (h.status == hold::state::released) forget_reentrant(h, l);
    // A reentrant hold that was lost is remembered until its last lease is gone.
    if (!h.reentrant || h.status == hold::state::released) h.where = nullptr;
    advance(l, out);
}

void engine::forget_reentrant(hold& h, lane& l) {
    if (h.reentrant) std::erase(l.reentrant, &h);
}

void engine::release(const hold_ptr& held, done then) {
    const bool running = step([&](actions& out) {
        hold& h = *held;
        lose_if_over(h, out);
        if (h.status == hold::state::released) {
            return out.add(do_done{std::move(then), why_not(h)});
        }
        if (h.status == hold::state::lost) return release_lost(h, std::move(then), out);
        if (h.count > 1) {
            --h.count;
            return out.add(do_done{std::move(then), {}});
        }
        release_held(h, std::move(then), out);
    });
    if (!running) then(failure{.code = errc::not_held, .detail = "the client is shut down"});
}

// The store may still have it, if only our deadline passed: it is tidied up in the background.
void engine::release_lost(hold& h, done then, actions& out) {
    out.add(do_done{std::move(then), why_not(h)});
    if (h.count > 1) {
        --h.count;
        return;
    }
    if (lane* l = std::exchange(h.where, nullptr); l != nullptr) {
        forget_reentrant(h, *l);
        advance(*l, out);
    }
    // Told so by the store, or tidied up already: nothing is left there.
    const bool maybe_there = h.loss == loss_reason::expired || h.loss == loss_reason::unreachable ||
                             h.loss == loss_reason::hold_max;
    h.status = hold::state::released;
    if (maybe_there) start_release(make_job(h));
}

void engine::release_held(hold& h, done then, actions& out) {
    if (planted(bug::handover_of_lost_hold)) h.deadline = now_ + h.ttl();
    lane& l = *h.where;
    timers_.cancel(h);
    h.status = hold::state::released;
    h.where = nullptr;
    std::erase(l.holds, &h);
    forget_reentrant(h, l);
    if (hand_over(h, l, out)) {
        tell_released(h, out);
        return out.add(do_done{std::move(then), {}});
    }
    auto job = make_job(h);
    job->then = std::move(then);
    if (h.exclusive()) {
        ++l.releasing;
        job->blocks = &l;
    } else {
        advance(l, out);
    }
    if (planted(bug::renewal_outlives_release)) {
        h.status = hold::state::held;
        schedule_hold(h);
    }
    // A renewal in flight is answered first, so that none reaches the store after the release.
    if (h.renewing != 0) {
        h.waiting_release = std::move(job);
    } else {
        start_release(job);
    }
}

// The next acquisition of this process gets the hold with the next token of its block, without the
// store: as long as the block lasts, so that others get their turn.
bool engine::hand_over(hold& h, lane& l, actions& out) {
    if (h.handovers_left == 0 || l.queue.empty() || !h.exclusive()) return false;
    const std::shared_ptr<op> next = l.queue.front();
    const terms& r = next->asked;
    const claim& wanted = *next->wanted;
    const bool same = next->status == op::state::queued && wanted.how == access::exclusive &&
                      wanted.what == h.asked->what && wanted.next == h.asked->next &&
                      wanted.ttl == h.ttl() && wanted.permits != 0 &&
                      r.renew == renewal::automatic && h.renew == renewal::automatic;
    if (!same || h.deadline.load() - now_ < h.ttl() / 2 || h.hold_end != time_point::max()) {
        return false;
    }
    auto passed = std::make_shared<hold>(*this, h.asked);
    passed->token =
        planted(bug::handover_keeps_token) ? h.token : fencing_token{h.token.value() + 1};
    passed->deadline = h.deadline.load();
    passed->acquired = now_;
    passed->owner = r.owner;
    passed->reentrant = r.reentrant;
    passed->renew_at = h.renew_at;
    passed->handovers_left = h.handovers_left - 1;
    passed->hold_end = end_of(now_, r.hold_max);
    finish(next, std::move(passed), out);
    return true;
}

// `last`: how long the store may keep it by itself.
std::shared_ptr<release_job> engine::make_job(std::shared_ptr<const claim> what, duration last) {
    auto job = std::make_shared<release_job>();
    job->id = ++next_id_;
    job->what = std::move(what);
    job->until = now_ + last;
    jobs_.put(job->id, job);
    return job;
}

std::shared_ptr<release_job> engine::make_job(hold& h) {
    auto job = make_job(h.asked, h.ttl());
    job->held = h.shared_from_this();
    return job;
}

// Whatever the store has of an acquisition that ended without a hold.
void engine::clean_up(const std::shared_ptr<const claim>& what) {
    // A place in the queue may outlive the ttl: as long as the store waits for it to be asked for.
    const duration kept = what->waits ? 3 * store_->caps().poll_max : duration::zero();
    start_release(make_job(what, std::max(what->ttl, kept)));
}

void engine::start_release(const std::shared_ptr<release_job>& job) {
    try {
        releases_due_.push_back(job);
    } catch (const std::bad_alloc&) {
        timers_.schedule(*job, now_);  // then it is tried again
    }
}

void engine::start_waiting_release(hold& h) {
    if (h.waiting_release) start_release(std::exchange(h.waiting_release, nullptr));
}

void engine::tell_released(const hold& h, actions& out) {
    emit(out, {.what = event::type::released, .token = h.token, .took = now_ - h.acquired},
         h.asked->name);
}

void engine::send_releases(actions& out) {
    const auto& due = releases_due_;  // emptied at the end: if memory runs out, all is sent again
    for (std::size_t from = 0; from < due.size(); from += store_->caps().batch_max) {
        const auto to = std::min(due.size(), from + store_->caps().batch_max);
        auto sent = std::make_shared<call>();
        sent->releasing.assign(due.begin() + static_cast<std::ptrdiff_t>(from),
                               due.begin() + static_cast<std::ptrdiff_t>(to));
        const call_id id = start_call(sent);
        std::vector<hold_ref> what;
        what.reserve(to - from);
        duration shortest = forever;
        for (const auto& job : sent->releasing) {
            what.push_back({job->what->name, job->what->id});
            shortest = std::min(shortest, job->what->ttl);
        }
        timers_.schedule(*sent, sent->asked + call_limit(shortest));
        out.add(do_release{id, std::move(what)});
    }
    releases_due_.clear();
}

void engine::released(call_id id, result<std::vector<release_reply>> answer) {
    step([&](actions& out) {
        const auto answered = take_call(id);
        if (!answered) return;
        if (answer && answer->size() != answered->releasing.size()) {
            answer = failure{.code = errc::bad_reply,
                             .detail = "the store answered another number of releases"};
        }
        for (std::size_t i = 0; i < answered->releasing.size(); ++i) {
            const auto& job = answered->releasing[i];
            if (answer) {
                release_answered(job, (*answer)[i], out);
            } else {
                release_failed(job, answer.error(), out);
            }
        }
    });
}

void engine::release_answered(const std::shared_ptr<release_job>& job, release_reply reply,
                              actions& out) {
    // Gone although we believed in it: somebody broke it, unless its time ran out on the way. After
    // a repetition, it was ourselves.
    if (reply == release_reply::not_held && job->held && job->failures == 0) {
        const bool over = now_ >= job->held->deadline.load();
        return end_release(job,
                           failure{.code = errc::lost,
                                   .detail = over ? "the hold ended before its release arrived"
                                                  : "the hold was removed from the store before",
                                   .lock = job->what->name,
                                   .loss = over ? loss_reason::expired : loss_reason::removed},
                           out);
    }
    end_release(job, {}, out);
}

void engine::release_failed(const std::shared_ptr<release_job>& job, const failure& why,
                            actions& out) {
    if (!jobs_.contains(job->id)) return;
    if (now_ >= job->until || planted(bug::release_not_retried)) {
        emit(out, {.what = event::type::abandoned}, job->what->name, why);
        auto unknown = why;
        unknown.code = errc::outcome_unknown;
        unknown.lock = job->what->name;
        return end_release(job, std::move(unknown), out);
    }
    const auto pause = backoff(job->failures++, std::chrono::seconds{1});
    emit(out, {.what = event::type::retried, .took = pause}, job->what->name, why);
    timers_.schedule(*job, std::min(now_ + pause, job->until));
}

void engine::end_release(const std::shared_ptr<release_job>& job, result<void> outcome,
                         actions& out) {
    if (!jobs_.erase(job->id)) return;
    if (job->held && outcome) tell_released(*job->held, out);
    if (job->then) out.add(do_done{std::move(job->then), std::move(outcome)});
    if (job->blocks == nullptr) return;
    --job->blocks->releasing;
    advance(*job->blocks, out);
}

}  // namespace holdfast::core
