// What an actor does while it holds a lock, and how it lets go.
#include <algorithm>

#include "simulation/actor.hpp"
#include "simulation/audit.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

bool actor::still(const core::hold_ptr& hold) const {
    return hold_ == hold;
}

void actor::held(const core::hold_ptr& hold, const attempt& one) {
    world_.log(node_,
               "holds " + hold->asked->name + " token " + std::to_string(hold->token.value()));
    if (hold_ == hold) {
        ++leases_;  // a nested one
        return;
    }
    world_.acquired();
    world_.audit().acquired(node_, hold, !one.adopts);
    hold_ = hold;
    leases_ = 1;
    subject_ = one.subject;
    weak_ = false;
    writing_ = false;
    letting_go_ = false;
    rng& dice = world_.dice();
    duration hold_for = dice.between(0s, world_.planned().hold_max);
    if (dice.chance(30)) hold_for = 1000s;  // until it is shut down or crashes
    hold_until_ = world_.now() + hold_for;
    if (dice.chance(300)) return step();  // at once, inside the completion
    later(dice.between(0s, std::min<duration>(hold_for, 10ms)), &actor::step);
}

void actor::step() {
    if (!hold_ || letting_go_) return;
    rng& dice = world_.dice();
    if (dice.chance(300)) node_.engine().check(*hold_);
    const bool lost = hold_->lost.stop_requested();
    if (!writing_ && (lost || over_ || world_.now() >= hold_until_)) return end_hold();
    if (!lost && !writing_) act();
    if (!hold_ || letting_go_) return;
    const duration rest = std::max<duration>(hold_until_ - world_.now(), 1ms);
    later(std::min(rest, dice.between(1ms, world_.planned().ttl / 2)), &actor::step);
}

void actor::act() {
    const auto roll = world_.dice().below(20);
    const bool alone = hold_->exclusive() && !weak_;
    const bool calm = world_.faults_over();
    if (roll < 9 && alone) {
        write();
    } else if (roll == 9) {
        renew();
    } else if (roll == 10 && hold_->reentrant) {
        nest();
    } else if (roll == 11 && alone && !hold_->reentrant &&
               hold_->asked->what == kind::shared_mutex) {
        downgrade();
    } else if (roll == 12 && !calm && !hold_->reentrant && !weak_) {
        orphan();
    }
}

// Reads both resources, and writes them a little later without looking again, as programs do.
void actor::write() {
    if (!hold_->valid(node_.local_now())) return;
    if (!world_.fenced(subject_).admits(hold_->token)) return;
    seen_fenced_ = world_.fenced(subject_).version;
    seen_unfenced_ = world_.unfenced(subject_).version;
    writing_ = true;
    later(world_.dice().between(0s, 20ms), &actor::finish_write);
}

void actor::finish_write() {
    if (!hold_) return;
    writing_ = false;
    auto& plain = world_.unfenced(subject_);
    if (plain.version != seen_unfenced_) ++plain.lost_updates;
    ++plain.version;
    auto& fenced = world_.fenced(subject_);
    if (!world_.planned().caps.fencing || !fenced.admits(hold_->token)) return;
    if (fenced.version != seen_fenced_) {
        world_.audit().fail(checker::fencing, hold_->asked->name + ": a fenced update was lost");
    }
    ++fenced.version;
}

void actor::count_answer(const std::shared_ptr<unsigned>& answers, const char* verb) {
    if (++*answers > 1) {
        world_.audit().fail(checker::once, std::string(verb) + " was answered twice");
    }
}

void actor::renew() {
    auto answers = std::make_shared<unsigned>(0);
    const auto hold = hold_;
    const duration ttl = world_.planned().ttl * static_cast<int>(world_.dice().below(4));
    node_.engine().renew(hold, ttl, [this, answers, hold](const result<void>& how) {
        count_answer(answers, "renew");
        if (how && !hold->valid(node_.local_now())) {
            world_.audit().fail(checker::outcome, hold->asked->name + ": renewed, but not held");
        }
    });
}

void actor::nest() {
    auto one = std::make_shared<attempt>();
    one->subject = subject_;
    one->asked.what = *hold_->asked;
    one->asked.try_only = true;
    one->asked.owner = hold_->owner;
    one->asked.reentrant = true;
    launch(one, true);
    if (one->ends == 0) {
        world_.audit().fail(checker::liveness, hold_->asked->name + ": nested, but had to wait");
    }
}

void actor::downgrade() {
    weak_ = true;
    world_.audit().downgrading(hold_);
    auto answers = std::make_shared<unsigned>(0);
    node_.engine().downgrade(
        hold_, [this, answers](const result<void>&) { count_answer(answers, "downgrade"); });
}

void actor::end_hold() {
    while (hold_ && leases_ > 0) release();
}

void actor::release() {
    auto answers = std::make_shared<unsigned>(0);
    const auto hold = hold_;
    const bool was_held = hold->valid(node_.local_now());
    world_.log(node_,
               "releases " + hold->asked->name + " token " + std::to_string(hold->token.value()));
    --leases_;
    const bool last = leases_ == 0;
    if (last) hold_.reset();
    const time_point since = node_.local_now();
    node_.engine().release(hold, [this, answers, hold, since, was_held](const result<void>& how) {
        count_answer(answers, "release");
        released(hold, how, since, was_held);
    });
    if (!last) return;
    world_.audit().dropped(hold);
    idle();
}

void actor::released(const core::hold_ptr& hold, const result<void>& how, time_point since,
                     bool was_held) {
    if (how) {
        if (!was_held)
            world_.audit().fail(checker::outcome, hold->asked->name + ": released a lost hold");
        return;
    }
    const errc code = how.error().code;
    // The deadline may pass while the release is under way.
    const bool late = node_.local_now() >= hold->deadline.load();
    bool right = code == errc::lost && (!was_held || late || !world_.calm());
    right = right || (code == errc::not_held && node_.engine().closed());
    right = right || (code == errc::outcome_unknown && node_.local_now() >= since + hold->ttl());
    if (right) return;
    world_.audit().fail(checker::outcome, hold->asked->name + ": release ended with " +
                                              make_error_code(code).message());
}

// Lets go of it for whoever takes the ticket.
void actor::orphan() {
    letting_go_ = true;
    auto answers = std::make_shared<unsigned>(0);
    const auto hold = hold_;
    node_.engine().detach(hold, [this, answers, hold](const result<void>& how) {
        count_answer(answers, "detach");
        letting_go_ = false;
        if (!still(hold)) return;
        if (!how) {
            later(1ms, &actor::step);
            return;
        }
        world_.tickets().push_back({subject_, hold->asked->id, hold->token});
        world_.audit().dropped(hold);
        hold_.reset();
        idle();
    });
}

void actor::let_go() {
    over_ = over_ || world_.work_over();
    if (!hold_ || letting_go_) return;
    hold_until_ = world_.now();
    writing_ ? later(25ms, &actor::let_go) : end_hold();
}

}  // namespace holdfast::simulation
