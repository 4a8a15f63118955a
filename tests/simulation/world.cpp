#include "simulation/world.hpp"

#include <algorithm>
#include <iostream>

#include "simulation/actor.hpp"
#include "simulation/link.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

totals& totals::operator+=(const totals& other) {
    seeds += other.seeds;
    violations += other.violations;
    simulated += other.simulated;
    for (std::size_t i = 0; i < fault_count; ++i) faults[i] += other.faults[i];
    grants += other.grants;
    handovers += other.handovers;
    acquisitions += other.acquisitions;
    losses += other.losses;
    operations += other.operations;
    writes_refused += other.writes_refused;
    updates_lost += other.updates_lost;
    overlaps_allowed += other.overlaps_allowed;
    return *this;
}

world::world(const plan& of)
    : plan_(of),
      random_(of.seed ^ 0x5bd1e995U),
      audit_(*this),
      server_(*this, audit_),
      fenced_(of.subjects.size()),
      unfenced_(of.subjects.size()),
      armed_(of.clients, time_point::max()),
      cut_until_(of.clients),
      last_arrival_(of.clients),
      faults_end_(now() + of.faults_end),
      calm_begin_(now() + of.calm_begin),
      work_end_(now() + of.work_end) {
    audit_.watch(server_);
    audit_.calm(calm_begin_, 100ms + 20 * plan_.delay_max);
    if (plan_.observed) watch_ = std::make_shared<counting_observer>();
    if (plan_.knows_processes) server_.sees_deaths();
    server_.on_wake([this](const lease_table::wake& wake) {
        for (auto& each : nodes_) {
            if (!each->alive() || each->id() != wake.client) continue;
            to_client(*each, message::hint,
                      [&at = *each, id = wake.claim] { at.store().woken(id); });
        }
    });
    for (unsigned i = 0; i < plan_.clients; ++i) {
        nodes_.push_back(std::make_unique<node>(*this, server_, audit_, i));
    }
}

world::~world() {
    for (auto& each : nodes_) each->crash();
}

void world::boot(node& which) {
    const auto drift = static_cast<std::int64_t>(plan_.caps.drift_ppm);
    const auto slowest = drift * 99 / 100;
    const auto ppm =
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(drift + slowest + 1))) -
        slowest;
    const local_clock clock{random_.between(0s, 100'000s), ppm};
    armed_[which.index()] = time_point::max();
    which.boot({{random_.next(), random_.next()}}, clock, plan_.caps,
               {.local_handovers_max = plan_.handovers_max, .watch = watch_});
    for (unsigned i = 0; i < plan_.actors; ++i) {
        actors_.push_back(std::make_unique<actor>(*this, which, i));
        actors_.back()->start();
    }
}

void world::crash(node& which) {
    std::erase_if(actors_, [&](const auto& each) { return &each->where() == &which; });
    which.crash();
}

void world::later(node& in, duration after, deed what) {
    time_.at(now() + after, [&in, life = in.life(), what = std::move(what)]() mutable {
        if (in.life() == life) in.run(std::move(what));
    });
}

void world::set_alarm(node& of, time_point when) {
    time_point& armed = armed_[of.index()];
    if (when >= armed || when == time_point::max()) return;
    armed = std::max(when, now());
    time_.at(armed, [this, &of, life = of.life(), at = armed] {
        if (of.life() != life || armed_[of.index()] != at) return;
        armed_[of.index()] = time_point::max();
        of.alarm();
    });
}

bool world::strikes(fault what, node* at) {
    const auto index = static_cast<std::size_t>(what);
    if (plan_.permille[index] == 0 || faults_over() || !random_.chance(plan_.permille[index])) {
        return false;
    }
    ++sums_.faults[index];
    if (at != nullptr) at->trouble = std::max(at->trouble, now());
    if (verbose) tell(std::string("fault ") + to_string(what));
    return true;
}

fate world::fate_of_call(node& from) {
    if (strikes(fault::unavailable, &from)) return fate::unavailable;
    if (strikes(fault::unknown, &from)) {
        return random_.chance(500) ? fate::unknown_before : fate::unknown_after;
    }
    // An embedded store also has calls that take their time.
    const bool slow = !faults_over() && random_.chance(100);
    return plan_.inline_answers && !slow ? fate::at_once : fate::carried;
}

duration world::lateness() {
    return random_.between(plan_.ttl / 8, plan_.ttl * 3 / 2);
}

void world::to_server(node& from, deed arrive) {
    if (now() < cut_until_[from.index()] || strikes(fault::lose_request, &from)) return;
    time_point when = now() + random_.between(plan_.delay_min, plan_.delay_max);
    if (strikes(fault::late_request, &from)) when += lateness();
    time_point& last = last_arrival_[from.index()][0];
    if (plan_.fifo) when = last = std::max(when, last);
    if (when > now() + plan_.delay_max) from.trouble = std::max(from.trouble, when);
    if (strikes(fault::duplicate)) time_.at(when + random_.between(0s, plan_.ttl), arrive);
    time_.at(when, std::move(arrive));
}

void world::to_client(node& to, message what, deed arrive) {
    const bool hint = what == message::hint;
    if (now() < cut_until_[to.index()]) return;
    if (strikes(hint ? fault::lose_hint : fault::lose_answer, hint ? nullptr : &to)) return;
    time_point when = now() + random_.between(plan_.delay_min, plan_.delay_max);
    if (strikes(hint ? fault::late_hint : fault::late_answer)) when += lateness();
    time_point& last = last_arrival_[to.index()][1];
    if (plan_.fifo) when = last = std::max(when, last);
    if (when > now() + plan_.delay_max) to.trouble = std::max(to.trouble, when);
    time_.at(when, [&to, life = to.life(), arrive = std::move(arrive)]() mutable {
        if (to.life() == life) to.run(std::move(arrive));
    });
}

void world::moment_of_faults() {
    if (faults_over()) return;
    for (auto& each : nodes_) {
        if (each->alive()) faults_of(*each);
    }
    faults_of_store();
    time_.at(now() + 250ms, [this] { moment_of_faults(); });
}

void world::faults_of(node& which) {
    if (strikes(fault::cut, &which)) {
        cut_until_[which.index()] = now() + random_.between(50ms, plan_.ttl * 3 / 2);
        which.trouble = std::max(which.trouble, cut_until_[which.index()]);
    }
    if (strikes(fault::pause) && !which.paused()) {
        which.pause();
        const bool timers_first = random_.chance(500);
        time_.at(now() + random_.between(10ms, plan_.ttl * 3 / 2),
                 [&which, timers_first] { which.resume(timers_first); });
    }
    if (strikes(fault::clock_ahead)) which.leap(random_.between(1ms, plan_.ttl));
    if (strikes(fault::session_end)) end_session(which);
    if (strikes(fault::shutdown)) return shut_down(which);
    if (strikes(fault::crash)) {
        crash(which);
        time_.at(now() + random_.between(1ms, 1s), [this, &which] { boot(which); });
    }
}

void world::end_session(node& which) {
    for (auto& ended : server_.end_session(which.id())) {
        to_client(which, message::hint,
                  [&which, ended = std::move(ended)] { which.store().gone(ended); });
    }
}

// Closed, and after a while ended for good and started anew.
void world::shut_down(node& which) {
    which.run([&which] { which.engine().close(); });
    time_.at(now() + random_.between(1ms, plan_.ttl), [this, &which, life = which.life()] {
        if (which.life() != life || !which.alive()) return;
        crash(which);
        boot(which);
    });
}

void world::faults_of_store() {
    if (server_.up()) {
        if (strikes(fault::restart_keep))
            restart_store(false);
        else if (strikes(fault::restart_forget))
            restart_store(true);
    }
    if (strikes(fault::evict)) {
        server_.evict(plan_.subjects[random_.below(plan_.subjects.size())].name);
    }
    if (strikes(fault::store_clock)) {
        server_.leap(random_.between(1ms, plan_.ttl * 2));
        for (auto& each : nodes_) each->trouble = std::max(each->trouble, now());
    }
}

void world::restart_store(bool forget) {
    server_.go_down();
    if (forget) {
        server_.forget_everything(plan_.floors);
        for (auto& each : fenced_) {
            if (!plan_.floors) each.forget_tokens();
        }
    }
    const time_point back = now() + random_.between(1ms, plan_.ttl);
    for (auto& each : nodes_) each->trouble = std::max(each->trouble, back);
    const auto notice = random_.below(3);
    time_.at(back, [this, notice] {
        server_.come_back();
        for (auto& each : nodes_) {
            if (notice == 0 || !each->alive()) continue;
            each->run([&at = *each, notice] { at.store().reconnected(notice == 1); });
        }
    });
}

bool world::free_for(const std::string& name, duration least) const {
    const time_point since = server_.free_since(name);
    return since != time_point::max() && now() - since > least;
}

bool world::run_until(time_point end) {
    while (!audit_.found() && time_.run_next(end)) {
    }
    return !audit_.found();
}

void world::work() {
    for (auto& each : nodes_) boot(*each);
    moment_of_faults();
    if (!run_until(calm_begin_)) return;
    for (auto& each : actors_) each->must_not_sleep();
    if (!run_until(work_end_ + 1s)) return;
    for (auto& each : actors_) each->let_go();
    if (!run_until(now() + 1s)) return;
    for (auto& each : actors_) each->must_not_sleep();
}

void world::wind_up() {
    for (auto& each : nodes_) {
        each->run([&at = *each] { at.engine().close(); });
    }
    for (auto& each : actors_) each->must_have_ended();
    if (!run_until(now() + 300ms + 20 * plan_.delay_max)) return;
    for (auto& line : server_.left()) audit_.fail(checker::leak, "left in the store: " + line);
    for (auto& each : nodes_) {
        if (each->engine().unfinished() != 0) {
            audit_.fail(checker::leak, "left in a client: unfinished operations");
        }
    }
    // Requests from the time of the faults are remembered a little longer, should they be answered.
    if (!run_until(now() + plan_.ttl * 4)) return;
    for (auto& each : nodes_) {
        if (each->engine().tracked() != 0) audit_.fail(checker::leak, "left in a client: state");
    }
    compare_with_events();
}

// The observer sees as many ends of acquisitions as the callers did.
void world::compare_with_events() {
    if (!watch_) return;
    sums_.handovers = watch_->told(event::type::handed_over);
    if (watch_->told(event::type::refused) != refused_) {
        audit_.fail(checker::once, "the observer saw another number of refusals");
    }
    if (watch_->told(event::type::acquired) + sums_.handovers != acquired_) {
        audit_.fail(checker::once, "the observer saw another number of acquisitions");
    }
}

outcome world::run() {
    const time_point begin = now();
    work();
    if (!audit_.found()) wind_up();
    sums_.seeds = 1;
    sums_.violations = audit_.found() ? 1 : 0;
    sums_.simulated = now() - begin;
    sums_.grants = server_.grants;
    sums_.operations = server_.operations;
    sums_.losses = audit_.losses;
    sums_.overlaps_allowed = audit_.overlaps_allowed;
    for (const auto& each : fenced_) sums_.writes_refused += each.refused;
    for (const auto& each : unfenced_) sums_.updates_lost += each.lost_updates;
    return {audit_.found(), sums_};
}

void world::tell(const std::string& line) {
    std::cerr << now().time_since_epoch() / 1us << ' ' << line << '\n';
}

void world::log(const node& who, const std::string& what) {
    if (verbose) tell("client " + std::to_string(who.index()) + ": " + what);
}

outcome run_seed(std::uint64_t seed, const reduction& less, bool verbose) {
    world one{make_plan(seed, less)};
    one.verbose = verbose;
    return one.run();
}

}  // namespace holdfast::simulation
