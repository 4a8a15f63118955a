// Renewing, and telling losses. One schedule for all leases of the client: those that fall due
// together are renewed together, each answer counts for its own lease alone.
#include <algorithm>

#include "core/actions.hpp"
#include "core/engine.hpp"
#include "core/failures.hpp"
#include "core/step.hpp"
#include "support/planted.hpp"

namespace holdfast::core {
namespace {

constexpr duration least_margin = std::chrono::milliseconds{1};

// Our clock against the store's, for as long as the store promised.
duration margin_for(duration remaining, const capabilities& caps) {
    return least_margin + remaining / 1'000'000 * caps.drift_ppm;
}

}  // namespace

// Moves the local deadline, which never comes nearer by it.
void engine::prolong(hold& h, time_point asked, duration remaining) {
    auto margin = margin_for(remaining, store_->caps());
    if (planted(bug::no_margin_at_deadline)) margin = -h.ttl() / 2;
    const time_point deadline = std::min(asked + remaining - margin, h.hold_end);
    if (deadline > h.deadline.load()) {
        h.deadline = deadline;
        h.risk_told = false;
    }
    // A third of the ttl leaves time for several more tries. Rounded, so that many leases share a
    // moment and with it a request.
    const duration grain = std::max<duration>(h.ttl() / 64, duration{1});
    const duration span = std::min(h.ttl(), remaining);
    const time_point due = asked + span / 3;
    h.renew_at = std::max(due - due.time_since_epoch() % grain, asked + span / 6);
    // It need not last any longer.
    if (h.deadline.load() == h.hold_end) h.renew_at = time_point::max();
    h.failures = 0;
}

void engine::schedule_hold(hold& h) {
    if (h.status != hold::state::held) return timers_.cancel(h);
    time_point next = h.deadline.load();
    if (!h.risk_told) next = std::min(next, next - h.ttl() / 3);
    if (h.renew == renewal::automatic && h.renewing == 0) next = std::min(next, h.renew_at);
    timers_.schedule(h, next);
}

// Why the time ran out.
loss_reason engine::overdue(const hold& h) {
    if (h.deadline.load() >= h.hold_end) return loss_reason::hold_max;
    return h.failures > 0 || h.renewing != 0 ? loss_reason::unreachable : loss_reason::expired;
}

void engine::hold_due(hold& h, actions& out) {
    const time_point deadline = h.deadline.load();
    if (now_ >= deadline) {
        if (planted(bug::loss_not_told)) return;
        return lose(h, overdue(h), out);
    }
    if (!h.risk_told && now_ >= deadline - h.ttl() / 3) tell_risk(h, out);
    const bool wanted = h.renew == renewal::automatic && h.renewing == 0 && now_ >= h.renew_at;
    // A renewal that is about to be sent schedules the hold itself.
    wanted ? renewals_due_.push_back(h.shared_from_this()) : schedule_hold(h);
}

// Just as long as hold_max allows, and with the margin that makes us believe in all of it: else
// the rest would be renewed by ever shorter pieces.
duration engine::renewal_ttl(const hold& h, time_point now) const {
    if (h.hold_end == time_point::max()) return h.ttl();
    const duration rest = h.hold_end - now + margin_for(h.ttl(), store_->caps());
    return std::clamp(rest, std::min(store_->caps().ttl_min, h.ttl()), h.ttl());
}

void engine::send_renewals(actions& out) {
    const auto& due = renewals_due_;  // emptied at the end: if memory runs out, all is sent again
    for (std::size_t from = 0; from < due.size(); from += store_->caps().batch_max) {
        const auto to = std::min(due.size(), from + store_->caps().batch_max);
        auto sent = std::make_shared<call>();
        sent->renewing.assign(due.begin() + static_cast<std::ptrdiff_t>(from),
                              due.begin() + static_cast<std::ptrdiff_t>(to));
        const call_id id = start_call(sent);
        std::vector<renewal_request> lines;
        lines.reserve(to - from);
        duration shortest = forever;
        for (const hold_ptr& h : sent->renewing) {
            h->renewing = id;
            lines.push_back(
                {.hold = {h->asked->name, h->asked->id}, .ttl = renewal_ttl(*h, sent->asked)});
            shortest = std::min(shortest, h->ttl());
            schedule_hold(*h);
        }
        timers_.schedule(*sent, sent->asked + call_limit(shortest));
        out.add(do_renew{id, std::move(lines)});
    }
    renewals_due_.clear();
}

// No answer in time. It may still come, and then it counts from when it was asked for.
void engine::call_due(call& c, actions& out) {
    const auto kept = take_call(c.id);
    const failure silent{.code = errc::outcome_unknown, .detail = "the store does not answer"};
    if (kept->single) return kept->single(kept->asked, silent, out);
    for (const auto& job : kept->releasing) release_failed(job, silent, out);
    const bool first_time = std::ranges::any_of(
        kept->renewing, [&](const hold_ptr& h) { return h->renewing == kept->id; });
    for (const hold_ptr& h : kept->renewing) {
        if (h->renewing == kept->id) renewal_failed(*h, silent, out);
    }
    if (!first_time) return;
    calls_.put(kept->id, kept);
    timers_.schedule(*kept, kept->asked + kept->renewing.front()->ttl());
}

void engine::renewed(call_id id, result<std::vector<renewal_reply>> answer) {
    step([&](actions& out) {
        const auto answered = take_call(id);
        if (!answered) return;
        if (answered->single) {
            auto one = answer ? result<renewal_reply>{answer->front()}
                              : result<renewal_reply>{std::move(answer).error()};
            return answered->single(answered->asked, one, out);
        }
        if (answer && answer->size() != answered->renewing.size()) {
            answer = failure{.code = errc::bad_reply,
                             .detail = "the store answered another number of renewals"};
        }
        for (std::size_t i = 0; i < answered->renewing.size(); ++i) {
            hold& h = *answered->renewing[i];
            const bool current = h.renewing == id;
            if (answer) {
                renewal_answered(h, answered->asked, (*answer)[i], current, out);
            } else if (current) {
                renewal_failed(h, answer.error(), out);
            }
        }
    });
}

void engine::renewal_answered(hold& h, time_point asked, const renewal_reply& reply, bool current,
                              actions& out) {
    if (current) h.renewing = 0;
    if (h.status == hold::state::released) {
        if (current) start_waiting_release(h);
        return;
    }
    if (h.status == hold::state::lost) {
        // Lost stays lost, whatever the store says now.
        if (!planted(bug::renewal_revives_lost) || reply.lost != loss_reason::none) return;
        h.status = hold::state::held;
    }
    if (reply.lost != loss_reason::none) return lose(h, reply.lost, out);
    // The word of the loss is only on its way: a deadline that has passed is not moved any more.
    if (!planted(bug::renewal_revives_lost)) lose_if_over(h, out);
    if (h.status != hold::state::held) return;
    prolong(h, asked, reply.remaining);
    schedule_hold(h);
    emit(out, {.what = event::type::renewed, .token = h.token, .took = now_ - asked},
         h.asked->name);
}

void engine::renewal_failed(hold& h, const failure& why, actions& out) {
    h.renewing = 0;
    if (h.status == hold::state::released) start_waiting_release(h);
    if (h.status != hold::state::held) return;
    const auto pause = backoff(h.failures++, h.ttl() / 16);
    h.renew_at = now_ + pause;
    if (planted(bug::renewal_gives_up)) h.renew_at = time_point::max();
    emit(out, {.what = event::type::retried, .token = h.token, .took = pause}, h.asked->name, why);
    schedule_hold(h);
}

void engine::tell_risk(hold& h, actions& out) {
    h.risk_told = true;
    out.add(do_tell_risk{h.shared_from_this()});
    emit(out, {.what = event::type::at_risk, .token = h.token, .took = h.deadline.load() - now_},
         h.asked->name);
}

void engine::lose(hold& h, loss_reason why, actions& out) {
    if (h.status != hold::state::held) return;
    h.loss = why;
    h.status = hold::state::lost;
    timers_.cancel(h);
    out.add(do_tell_lost{h.shared_from_this()});
    emit(out, {.what = event::type::lost, .token = h.token, .took = now_ - h.acquired, .loss = why},
         h.asked->name);
    leave_lane(h, out);
}

// A hold whose deadline has passed is over, also before its timer says so.
void engine::lose_if_over(hold& h, actions& out) {
    if (!h.valid(now_)) lose(h, overdue(h), out);
}

void engine::check(hold& held) {
    // Known to be lost, but a callback of another lease may still delay the word of it.
    if (held.status == hold::state::lost) return held.tell_lost();
    if (held.status != hold::state::held || held.valid(host_->now())) return;
    step([&](actions& out) { lose_if_over(held, out); });
}

void engine::gone(const hold_ref& which, loss_reason why) {
    step([&](actions& out) {
        const auto found = lanes_.find(which.name);
        if (found == lanes_.end()) return;
        const auto& holds = found->second.holds;
        const auto mine =
            std::ranges::find_if(holds, [&](const hold* h) { return h->asked->id == which.id; });
        if (mine != holds.end()) lose(**mine, why, out);
    });
}

void engine::start_single(renewal_request what, bool as_downgrade, single_answered then,
                          actions& out) {
    auto sent = std::make_shared<call>();
    sent->single = std::move(then);
    const call_id id = start_call(sent);
    timers_.schedule(*sent, sent->asked + call_limit(what.ttl));
    if (as_downgrade) {
        out.add(do_downgrade{id, std::move(what)});
    } else {
        out.add(do_renew{id, {std::move(what)}});
    }
}

// One renewal of one hold on behalf of a caller. `settle` runs when the store said yes.
void engine::ask_for(const hold_ptr& held, renewal_request what, bool as_downgrade,
                     std::function<void(hold&, actions&)> settle, done then) {
    what.hold = {held->asked->name, held->asked->id};
    const bool running = step([&](actions& out) {
        lose_if_over(*held, out);
        if (held->status != hold::state::held) {
            return out.add(do_done{std::move(then), why_not(*held)});
        }
        // From now on the store may have it as a shared hold, whatever the answer will be.
        if (as_downgrade) held->handovers_left = 0;
        auto answered = [this, held, settle = std::move(settle), then = std::move(then)](
                            time_point asked, const result<renewal_reply>& answer, actions& after) {
            if (answer && answer->lost != loss_reason::none) lose(*held, answer->lost, after);
            lose_if_over(*held, after);
            if (held->status != hold::state::held) {
                return after.add(do_done{then, why_not(*held)});
            }
            if (!answer) return after.add(do_done{then, answer.error()});
            prolong(*held, asked, answer->remaining);
            schedule_hold(*held);
            settle(*held, after);
            after.add(do_done{then, {}});
        };
        start_single(std::move(what), as_downgrade, std::move(answered), out);
    });
    if (!running) then(shut_down());
}

void engine::renew(const hold_ptr& held, duration ttl, done then) {
    ask_for(
        held, {.hold = {}, .ttl = ttl == duration::zero() ? held->ttl() : ttl}, false,
        [](hold&, actions&) {}, std::move(then));
}

void engine::detach(const hold_ptr& held, done then) {
    ask_for(
        held, {.hold = {}, .ttl = held->ttl(), .bind = binding::detach}, false,
        [this](hold& h, actions& out) {
            h.status = hold::state::released;
            timers_.cancel(h);
            leave_lane(h, out);
        },
        std::move(then));
}

void engine::downgrade(const hold_ptr& held, done then) {
    ask_for(
        held, {.hold = {}, .ttl = held->ttl()}, true,
        [this](hold& h, actions& out) {
            h.how = access::shared;
            if (h.where != nullptr) advance(*h.where, out);
        },
        std::move(then));
}

void engine::downgraded(call_id id, result<renewal_reply> answer) {
    step([&](actions& out) {
        const auto answered = take_call(id);
        if (answered && answered->single) answered->single(answered->asked, answer, out);
    });
}

void engine::adopt(request what, const claim_id& id, fencing_token token, acquire_done then) {
    auto o = std::make_shared<op>();
    o->asked = static_cast<const terms&>(what);
    o->wanted = std::make_shared<claim>(std::move(what.what));
    o->then = std::move(then);
    const bool running = step([&](actions& out) {
        if (closed_) {
            return out.add(do_finish{std::move(o->then), shut_down(o->wanted->name)});
        }
        o->started = now_;
        const renewal_request attach{.hold = {o->wanted->name, id},
                                     .ttl = o->wanted->ttl,
                                     .bind = binding::attach,
                                     .token = token};
        start_single(
            attach, false,
            [this, o, attach](time_point asked, const result<renewal_reply>& answer,
                              actions& after) { adopt_answered(*o, attach, asked, answer, after); },
            out);
    });
    if (!running) o->then(shut_down());
}

void engine::adopt_answered(op& o, const renewal_request& attach, time_point asked,
                            const result<renewal_reply>& answer, actions& out) {
    if (!answer) return out.add(do_finish{std::move(o.then), answer.error()});
    const auto& [name, id] = attach.hold;
    // The store takes a second adoption by this client for a repetition of the first.
    const auto known = lanes_.find(name);
    const bool ours_already = known != lanes_.end() &&
                              std::ranges::any_of(known->second.holds, [&id = id](const hold* h) {
                                  return h->asked->id == id;
                              });
    claim& wanted = *o.wanted;
    wanted.id = id;
    wanted.what = answer->what;
    wanted.how = answer->how;
    wanted.permits = answer->permits;
    o.what = o.wanted;
    const hold_ptr h = make_hold(o, asked, attach.token, answer->remaining);
    loss_reason gone = ours_already ? loss_reason::taken_over : answer->lost;
    // The answer came when the hold was over, or nearly.
    if (gone == loss_reason::none && !h->valid(now_)) gone = loss_reason::expired;
    if (gone != loss_reason::none) {
        return out.add(
            do_finish{std::move(o.then), lost("the hold of this ticket is gone: ", gone, name)});
    }
    if (closed_) {
        clean_up(o.what);
        return out.add(do_finish{std::move(o.then), shut_down(name)});
    }
    enter_lane(h);
    emit(out, {.what = event::type::acquired, .token = h->token, .took = now_ - o.started}, name);
    out.add(do_finish{std::move(o.then), h});
}

}  // namespace holdfast::core
