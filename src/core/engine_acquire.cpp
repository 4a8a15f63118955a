// Acquiring and waiting. Each name has a lane: the first acquisition of its queue talks to the
// store, the others wait in memory, in order.
#include <algorithm>

#include "core/actions.hpp"
#include "core/engine.hpp"
#include "core/failures.hpp"
#include "core/step.hpp"
#include "support/planted.hpp"

namespace holdfast::core {
namespace {

const hold* exclusive_hold(const lane& l) {
    const auto found = std::ranges::find_if(l.holds, &hold::exclusive);
    return found == l.holds.end() ? nullptr : *found;
}

bool worth_retrying(errc code) {
    return code == errc::unavailable || code == errc::outcome_unknown;
}

}  // namespace

op_id engine::acquire(request what, acquire_done then) {
    auto o = std::make_shared<op>();
    o->asked = static_cast<const terms&>(what);
    o->wanted = std::make_shared<claim>(std::move(what.what));
    o->then = std::move(then);
    const bool running = step([&](actions& out) {
        o->id = ++next_id_;
        o->started = now_;
        try {
            enqueue(o, out);
        } catch (...) {
            forget(*o);
            throw;
        }
    });
    if (!running) o->then(shut_down());
    return o->id;
}

void engine::cancel(op_id what) {
    step([&](actions& out) {
        const auto found = ops_.find(what);
        if (found == ops_.end()) return;
        give_up(std::shared_ptr(found->second), {.code = errc::cancelled}, out);
    });
}

void engine::leave_list(op& o) noexcept {
    if (auto* list = std::exchange(o.list, nullptr); list != nullptr) list->erase(o.place);
}

// As if it had never been asked for: memory ran out before anything could reach the store.
void engine::forget(op& o) noexcept {
    if (o.status == op::state::finished) return;
    o.status = op::state::finished;
    timers_.cancel(o);
    calls_.erase(o.current);
    ops_.erase(o.id);
    leave_list(o);
    if (o.where != nullptr) drop_if_empty(*o.where);
}

void engine::enqueue(const std::shared_ptr<op>& o, actions& out) {
    lane& l = lane_of(o->wanted->name);
    o->where = &l;
    ops_.put(o->id, o);
    const bool is_probe = o->wanted->permits == 0;
    auto& list = is_probe ? l.probes : l.queue;
    o->place = list.insert(list.end(), o);
    o->list = &list;
    if (closed_) return finish(o, shut_down(), out);
    if (is_probe) return ask(o, out);
    if (answered_locally(o, l, out)) return;
    const auto expired = std::ranges::find_if(
        l.holds, [&](const hold* h) { return h->exclusive() && !h->valid(o->started); });
    if (expired != l.holds.end()) lose_if_over(**expired, out);
    advance(l, out);
    if (o->status != op::state::queued) return;
    // Behind others of this process it only watches its own deadline.
    schedule_op(*o, o->asked.give_up);
    tell_waiting(*o, out);
}

void engine::tell_waiting(op& o, actions& out) {
    if (std::exchange(o.told_waiting, true)) return;
    emit(out, {.what = event::type::waiting, .took = now_ - o.started}, o.wanted->name, {},
         o.holder);
}

// Nested holds, and waits that could never end.
bool engine::answered_locally(const std::shared_ptr<op>& o, lane& l, actions& out) {
    const terms& r = o->asked;
    const claim& wanted = *o->wanted;
    if (!r.owner.chosen() || r.owner == owner_id::nobody()) return false;
    if (r.reentrant) {
        const auto mine =
            std::ranges::find_if(l.reentrant, [&](const hold* h) { return h->owner == r.owner; });
        if (mine == l.reentrant.end()) return false;
        hold& h = **mine;
        lose_if_over(h, out);
        if (h.status != hold::state::held) {
            finish(o, lost("the hold of this owner was lost: ", h.loss, h.asked->name), out);
            return true;
        }
        ++h.count;
        finish(o, h.shared_from_this(), out);
        return true;
    }
    const bool upgrade = wanted.what == kind::shared_mutex && wanted.how == access::exclusive &&
                         std::ranges::any_of(l.holds, [&](const hold* h) {
                             return h->how == access::shared && h->whole() && h->owner == r.owner;
                         });
    if (!upgrade) return false;
    finish(o,
           failure{.code = errc::would_deadlock,
                   .detail = "this owner holds the name shared and would wait for itself: release "
                             "the shared lease first, or name another owner"},
           out);
    return true;
}

// Lets the lane do what it can: the first acquisition asks the store, unless this process itself
// holds the name alone; acquisitions that are not to wait are answered as soon as it is known that
// they would have to.
void engine::advance(lane& l, actions& out) {
    if (closed_ || l.queue.empty()) return drop_if_empty(l);
    if (l.releasing != 0 || exclusive_hold(l) != nullptr) return refuse_tries(l, true, out);
    const auto first = l.queue.front();
    if (first->status == op::state::queued) return ask(first, out);
    if (first->status != op::state::asking) refuse_tries(l, false, out);
}

void engine::refuse_tries(lane& l, bool including_first, actions& out) {
    std::vector<std::shared_ptr<op>> tries;
    for (const auto& o : l.queue) {
        const bool counts = including_first || o != l.queue.front();
        if (counts && o->asked.try_only && o->status == op::state::queued) tries.push_back(o);
    }
    if (tries.empty()) return;
    failure why{.code = errc::busy};
    auto& holder = why.holder;
    if (const hold* h = exclusive_hold(l)) {
        holder = holder_info{h->asked->owner, h->token, h->deadline.load() - now_};
    } else if (l.queue.front()->last_failure) {
        why = *l.queue.front()->last_failure;
    } else {
        holder = l.queue.front()->holder;
    }
    for (const auto& o : tries) conclude(o, why, out);
}

void engine::ask(const std::shared_ptr<op>& o, actions& out) {
    if (!o->what) {
        const bool first_time = o->wanted->id == claim_id{};
        if (!first_time) o->wanted = std::make_shared<claim>(*o->wanted);
        claim& what = *o->wanted;
        what.id = planted(bug::claim_id_reused) ? claim_id{} : host_->new_id();
        what.waits = !o->asked.try_only;
        // Tokens for those who wait behind it here, to be passed on without the store.
        const bool hands_over = store_->caps().token_blocks && what.how == access::exclusive &&
                                what.what != kind::semaphore && what.next != order::fair &&
                                what.permits != 0;
        const auto behind = static_cast<std::uint32_t>(o->where->queue.size() - 1);
        what.tokens = hands_over ? 1 + std::min(behind, settings_.local_handovers_max) : 1;
        o->what = o->wanted;
    }
    o->status = op::state::asking;
    auto asked = std::make_shared<call>();
    asked->acquiring = o;
    asked->what = o->what;
    o->current = start_call(asked);
    out.add(do_ask{o->current, o->what});
    schedule_op(*o, asked->asked + call_limit(o->what->ttl));
}

// An answer that comes after all is still of use: as a grant, or to clean up. Not for ever.
void engine::outlive(call_id id) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    call& c = *found->second;
    timers_.schedule(c, c.asked + 2 * c.acquiring->wanted->ttl);
}

// Never later than the end of the acquisition itself.
void engine::schedule_op(op& o, time_point at) {
    const time_point end = o.asked.try_only ? time_point::max() : o.asked.give_up;
    at = std::min(at, end);
    if (at == time_point::max()) return timers_.cancel(o);
    timers_.schedule(o, at);
}

void engine::end_wait(op& o, actions& out) {
    if (o.status != op::state::waiting) return;
    out.add(do_end_wait{o.current});
    calls_.erase(o.current);
}

void engine::op_due(const std::shared_ptr<op>& o, actions& out) {
    if (!o->asked.try_only && now_ >= o->asked.give_up) return give_up(o, not_in_time(*o), out);
    switch (o->status) {
        case op::state::asking:
            outlive(o->current);
            answer_failed(o, {.code = errc::outcome_unknown, .detail = "the store does not answer"},
                          out);
            return;
        case op::state::waiting:
            end_wait(*o, out);
            return ask(o, out);
        case op::state::backing_off:
            return ask(o, out);
        case op::state::queued:
        case op::state::finished:
            return;
    }
}

void engine::acquired(call_id id, result<acquire_reply> answer) {
    step([&](actions& out) {
        const auto answered = take_call(id);
        if (!answered || !answered->acquiring) return;
        const auto o = answered->acquiring;
        const bool current = o->current == id;
        if (o->status == op::state::finished) {
            // Nobody wants it any more, but the store has it, or a place in its queue.
            const bool left_behind = answer && !(o->succeeded && answered->what == o->what);
            if (left_behind && !planted(bug::no_cleanup_of_late_grant)) clean_up(answered->what);
        } else if (answered->what != o->what) {
            // About an earlier claim of this acquisition, which was given up as it came too late.
            if (answer) clean_up(answered->what);
        } else if (!answer) {
            if (current) answer_failed(o, std::move(answer).error(), out);
        } else if (const auto* yes = std::get_if<granted>(&*answer)) {
            answer_granted(o, answered->asked, *yes, out);
        } else if (current) {
            answer_refused(o, std::get<refused>(*answer), out);
        }
    });
}

void engine::changed(call_id id, result<void> answer) {
    step([&](actions& out) {
        const auto answered = take_call(id);
        if (!answered || !answered->acquiring) return;
        const auto o = answered->acquiring;
        if (o->status != op::state::waiting || o->current != id) return;
        if (planted(bug::no_recheck_after_wake)) {
            return answer_granted(o, now_, {fencing_token{1}, 1, o->what->ttl}, out);
        }
        if (answer) return ask(o, out);
        o->last_failure = answer.error();
        o->status = op::state::backing_off;
        schedule_op(*o, now_ + backoff(o->failures++, std::chrono::seconds{1}));
    });
}

void engine::answer_refused(const std::shared_ptr<op>& o, const refused& no, actions& out) {
    o->holder = no.holder;
    o->failures = 0;
    o->maybe_there = o->maybe_there || o->what->waits;
    o->last_failure.reset();
    if (o->asked.try_only) {
        return finish(o, failure{.code = errc::busy, .holder = no.holder}, out);
    }
    if (now_ >= o->asked.give_up) return give_up(o, not_in_time(*o), out);
    tell_waiting(*o, out);
    o->status = op::state::waiting;
    auto wait = std::make_shared<call>();
    wait->acquiring = o;
    o->current = start_call(wait);
    out.add(do_wait{o->current, o->what, no.cursor});
    const auto pause = std::max<duration>(no.retry_after, std::chrono::milliseconds{1});
    schedule_op(*o, planted(bug::waiter_sleeps_without_timer) ? time_point::max() : now_ + pause);
    if (o->what->permits != 0) refuse_tries(*o->where, false, out);
}

void engine::answer_failed(const std::shared_ptr<op>& o, failure why, actions& out) {
    if (planted(bug::unknown_taken_for_no) && why.code == errc::outcome_unknown) {
        return finish(o, failure{.code = errc::timed_out}, out);
    }
    o->maybe_there = o->maybe_there || why.code == errc::outcome_unknown;
    if (o->asked.try_only || !worth_retrying(why.code)) return give_up(o, std::move(why), out);
    const auto pause = backoff(o->failures++, std::chrono::seconds{1});
    emit(out, {.what = event::type::retried, .took = pause}, o->what->name, why);
    o->last_failure = std::move(why);
    o->status = op::state::backing_off;
    schedule_op(*o, now_ + pause);
    if (o->what->permits != 0) refuse_tries(*o->where, false, out);
}

void engine::answer_granted(const std::shared_ptr<op>& o, time_point asked, const granted& yes,
                            actions& out) {
    end_wait(*o, out);
    if (o->what->permits == 0) return finish(o, hold_ptr{}, out);
    const hold_ptr h = make_hold(*o, asked, yes.token, yes.remaining);
    h->handovers_left = yes.tokens - 1;
    if (h->valid(now_) || planted(bug::late_grant_accepted)) return finish(o, h, out);
    // The answer came when the grant was over, or nearly: it is worth nothing any more.
    clean_up(o->what);
    if (o->asked.try_only) {
        return finish(o,
                      failure{.code = errc::unavailable,
                              .detail = "the store's answer came after the end of the ttl"},
                      out);
    }
    if (o->status == op::state::asking) outlive(o->current);
    o->what.reset();
    ask(o, out);
}

// Believed in from before the request was sent, less a margin: never longer than the store does.
hold_ptr engine::make_hold(const op& o, time_point asked, fencing_token token, duration remaining) {
    auto h = std::make_shared<hold>(*this, o.what);
    h->token = token;
    h->acquired = now_;
    h->renew = o.asked.renew;
    h->owner = o.asked.owner;
    h->reentrant = o.asked.reentrant;
    h->hold_end = end_of(h->acquired, o.asked.hold_max);
    prolong(*h, planted(bug::deadline_from_answer) ? h->acquired : asked, remaining);
    return h;
}

void engine::finish(const std::shared_ptr<op>& o, result<hold_ptr> outcome, actions& out) {
    lane& l = *o->where;
    conclude(o, std::move(outcome), out);
    advance(l, out);
}

// Leaves the lane to be advanced by the caller.
void engine::conclude(const std::shared_ptr<op>& o, result<hold_ptr> outcome, actions& out) {
    // What may run out of memory comes first, so that nothing is half done.
    if (!outcome) outcome.error().lock = o->wanted->name;
    if (o->status == op::state::asking) outlive(o->current);
    const bool fresh = outcome && *outcome && (*outcome)->where == nullptr;
    if (fresh) enter_lane(*outcome);
    timers_.cancel(*o);
    o->status = op::state::finished;
    o->succeeded = outcome.has_value();
    leave_list(*o);
    ops_.erase(o->id);
    const duration took = now_ - o->started;
    if (!outcome) {
        emit(out, {.what = event::type::refused, .took = took}, o->wanted->name, outcome.error(),
             outcome.error().holder);
    } else if (fresh) {
        const bool passed_on = o->what == nullptr;
        emit(out,
             {.what = passed_on ? event::type::handed_over : event::type::acquired,
              .token = (*outcome)->token,
              .took = took},
             o->wanted->name);
    }
    out.add(do_finish{std::move(o->then), std::move(outcome)});
}

// Ends an acquisition that may be known to the store.
void engine::give_up(const std::shared_ptr<op>& o, failure why, actions& out) {
    end_wait(*o, out);
    const bool maybe_there = o->maybe_there || calls_.contains(o->current);
    if (o->what && maybe_there && !planted(bug::no_cleanup_after_timeout)) clean_up(o->what);
    finish(o, std::move(why), out);
}

failure engine::not_in_time(const op& o) const {
    if (o.last_failure) return *o.last_failure;
    // Who waited behind others first has not seen enough of the store to blame it.
    if (o.what && o.status == op::state::asking && !o.told_waiting) {
        return {.code = errc::timed_out, .detail = "the store has not answered yet"};
    }
    return {.code = errc::timed_out, .holder = o.holder};
}

}  // namespace holdfast::core
