#include "simulation/actor.hpp"

#include <algorithm>

#include "simulation/audit.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

actor::actor(world& in, node& at, unsigned index) : world_(in), node_(at), index_(index) {
}

void actor::later(duration after, void (actor::*what)()) {
    world_.later(node_, after, [this, what] { (this->*what)(); });
}

void actor::start() {
    idle();
}

// Between the faults and the calm nobody begins anything, so that what is left over can end.
void actor::idle() {
    duration pause = world_.dice().between(1ms, world_.planned().think_max);
    if (world_.faults_over() && !world_.calm()) {
        pause += time_point{1s} + world_.planned().calm_begin - world_.now();
    }
    later(pause, &actor::begin);
}

void actor::begin() {
    if (over_ || world_.work_over() || current_ || hold_) return;
    if (world_.faults_over() && !world_.calm()) return idle();
    if (!world_.tickets().empty() && world_.dice().chance(500)) return adopt();
    launch(make_attempt(), false);
}

void actor::choose_wait(core::request& asked) {
    rng& dice = world_.dice();
    const auto roll = dice.below(10);
    if (roll < 3) {
        asked.try_only = true;
    } else if (roll < 8) {
        asked.give_up = node_.local_now() + dice.between(0s, world_.planned().ttl * 2);
    }
}

actor::attempt_ptr actor::make_attempt() {
    rng& dice = world_.dice();
    const plan& of = world_.planned();
    auto one = std::make_shared<attempt>();
    one->subject = static_cast<unsigned>(dice.below(of.subjects.size()));
    const subject& what = of.subjects[one->subject];
    claim& asked = one->asked.what;
    asked.name = what.name;
    asked.what = what.what;
    asked.next = what.next;
    asked.capacity = what.capacity;
    asked.ttl = dice.chance(900) ? of.ttl : of.ttl * 2;
    if (what.what == kind::semaphore) {
        asked.permits = 1 + static_cast<std::uint32_t>(dice.below(what.capacity));
    } else if (dice.chance(30)) {
        asked.permits = 0;
    }
    if (what.what == kind::shared_mutex && dice.chance(600)) asked.how = access::shared;
    choose_wait(one->asked);
    if (dice.chance(150)) one->asked.renew = renewal::manual;
    if (dice.chance(100)) one->asked.hold_max = dice.between(20ms, of.ttl * 3);
    if (dice.chance(300)) one->asked.owner = owner_id{index_ + 1};
    const bool reentrant = what.what == kind::mutex && asked.permits != 0 && dice.chance(300);
    if (reentrant) {
        one->asked.owner = owner_id{index_ + 1};
        one->asked.reentrant = true;
    }
    return one;
}

void actor::launch(const attempt_ptr& one, bool nested) {
    if (!nested) current_ = one;
    one->started = node_.local_now();
    ++world_.sums().acquisitions;
    const core::op_id id = node_.engine().acquire(
        one->asked,
        [this, one, nested](result<core::hold_ptr> how) { ended(one, std::move(how), nested); });
    one->id = id;
    const core::request& asked = one->asked;
    const duration slowest = world_.planned().ttl * 2 / 3 + 200ms;
    if (asked.try_only) {
        expect_end(one, slowest * (2 + world_.planned().actors));
    } else if (asked.give_up != time_point::max()) {
        expect_end(one, asked.give_up - one->started + 2ms);
    }
    if (!nested && world_.dice().chance(asked.give_up == time_point::max() ? 500 : 100)) {
        cancel_later(one);
    }
}

void actor::adopt() {
    auto& tickets = world_.tickets();
    const left_ticket taken = tickets.back();
    tickets.pop_back();
    auto one = std::make_shared<attempt>();
    one->subject = taken.subject;
    one->adopts = true;
    one->asked.what.name = world_.planned().subjects[taken.subject].name;
    one->asked.what.capacity = world_.planned().subjects[taken.subject].capacity;
    one->asked.what.ttl = world_.planned().ttl;
    one->asked.try_only = true;
    one->started = node_.local_now();
    current_ = one;
    node_.engine().adopt(
        one->asked, taken.id, taken.token,
        [this, one](result<core::hold_ptr> how) { ended(one, std::move(how), false); });
    expect_end(one, world_.planned().ttl);
}

void actor::cancel_later(const attempt_ptr& one) {
    const duration after = world_.dice().between(0s, world_.planned().ttl * 2);
    world_.later(node_, after, [this, one] {
        if (one->ends != 0) return;
        one->cancelled = true;
        node_.engine().cancel(one->id);
        if (one->ends == 0) {
            world_.audit().fail(checker::liveness, one->asked.what.name + ": cancelled in vain");
        }
    });
}

// Looks once the time is over. A client that stands still, or has just gone on, is given its
// chance.
void actor::expect_end(const attempt_ptr& one, duration bound) {
    world_.later(node_, bound + bound / 50 + 1ms, [this, one, bound] {
        if (one->ends != 0) return;
        const duration running = world_.now() - node_.running_since;
        const duration least = one->asked.try_only ? bound : 1ms;
        if (running < least) return expect_end(one, least);
        world_.audit().fail(checker::liveness,
                            one->asked.what.name + ": an acquisition did not end");
    });
}

void actor::ended(const attempt_ptr& one, result<core::hold_ptr> how, bool nested) {
    if (++one->ends > 1) {
        return world_.audit().fail(checker::once, one->asked.what.name + ": ended twice");
    }
    if (!nested) current_.reset();
    if (!how) {
        if (!one->adopts) world_.refused();
        judge(*one, how.error());
        if (!nested) idle();
        return;
    }
    if (!*how) {  // a probe
        if (one->asked.what.permits != 0) {
            world_.audit().fail(checker::outcome,
                                one->asked.what.name + ": granted without a hold");
        }
        return idle();
    }
    if (one->asked.what.permits == 0) {
        world_.audit().fail(checker::outcome, one->asked.what.name + ": a probe got a hold");
    }
    held(*how, *one);
}

void actor::judge(const attempt& one, const failure& why) {
    world_.log(node_, "failed " + std::string(make_error_code(why.code).message()));
    const bool in_time = !one.asked.try_only && node_.local_now() < one.asked.give_up;
    const bool closed = node_.engine().closed();
    // Nobody answers as fast as some are in a hurry.
    const bool hasty = node_.local_now() - one.started < 200ms;
    bool right = false;
    switch (why.code) {
        case errc::busy:
            right = one.asked.try_only;
            break;
        case errc::timed_out:
            right = !one.asked.try_only && !in_time;
            break;
        case errc::cancelled:
            right = one.cancelled || closed;
            break;
        case errc::unavailable:
        case errc::outcome_unknown:
            right = !in_time && (!world_.calm() || hasty);
            break;
        case errc::lost:
            right = one.asked.reentrant || one.adopts;
            break;
        case errc::would_deadlock:
            right = one.asked.owner.chosen();
            break;
        default:
            break;
    }
    if (right) return;
    world_.audit().fail(checker::outcome, one.asked.what.name + ": ended with " +
                                              make_error_code(why.code).message());
}

void actor::must_not_sleep() {
    if (!current_ || current_->asked.try_only || current_->adopts) return;
    const duration longest = world_.planned().caps.poll_max + 5s;
    if (world_.now() - node_.clock().when(current_->started) < longest) return;
    if (world_.free_for(current_->asked.what.name, longest)) {
        world_.audit().fail(checker::liveness, current_->asked.what.name + ": free, and not taken");
    }
}

void actor::must_have_ended() {
    over_ = true;
    if (current_ && current_->ends == 0 && !current_->adopts) {
        world_.audit().fail(checker::liveness, current_->asked.what.name + ": outlived its client");
    }
    let_go();
}

}  // namespace holdfast::simulation
