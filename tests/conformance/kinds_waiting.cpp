// Waiting: its end, its order, and what it leaves behind.
#include <thread>

#include "conformance/users.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

// Nobody holds it and nobody stands in the queue: a stranger gets it at once.
void expect_nothing_left(fixture& f, const std::string& name) {
    auto stranger = connect(f);
    EXPECT_TRUE(f.until([&] { return mutex(stranger, name).try_acquire().has_value(); }, 1s))
        << name << " is not free";
}

ROW(kinds, a_waiter_gets_the_lock_when_it_is_released) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    outcome waiting;
    mutex{b, "x"}.async_acquire({}, waiting.handler());
    f.pass(f.ttl() * 2);
    EXPECT_FALSE(waiting.arrived()) << "the hold is renewed while others wait";
    held.release();
    EXPECT_TRUE(f.until([&] { return waiting.granted(); }));
    EXPECT_TRUE(f.really_held("x"));
}

ROW(kinds, a_waiter_gets_the_lock_when_it_expires) {
    auto a = connect(f);
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire({.renew = renewal::manual});
    const lease next = mutex{b, "x"}.acquire();
    EXPECT_TRUE(next.held());
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.loss(), loss_reason::expired);
}

ROW(kinds, a_wait_ends_at_its_deadline_and_leaves_nothing_behind) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    const auto late = mutex{b, "x"}.try_acquire({.wait = 50ms});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, errc::timed_out);
    EXPECT_TRUE(late.error().holder);
    EXPECT_EQ(failure_of([&] {
                  return mutex{b, "x"}.acquire({.wait = 50ms});
              })->code,
              errc::timed_out);
    held.release();
    expect_nothing_left(f, "x");
}

ROW(kinds, no_wait_is_busy_and_a_short_wait_is_timed_out) {
    auto a = connect(f);
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    const mutex x{b, "x"};
    EXPECT_EQ(x.try_acquire().error().code, errc::busy);
    EXPECT_EQ(x.try_acquire({.wait = duration::zero()}).error().code, errc::busy);
    EXPECT_EQ(failure_of([&] { return x.acquire({.wait = duration::zero()}); })->code, errc::busy);
    EXPECT_EQ(x.try_acquire({.wait = duration{1}}).error().code, errc::timed_out);
}

ROW(kinds, an_endless_wait_does_not_overflow) {
    auto user = connect(f);
    for (const duration wait : {forever, forever - duration{1}, forever / 2}) {
        EXPECT_TRUE((mutex{user, "x"}.try_acquire({.wait = wait})));
        EXPECT_TRUE((mutex{user, "x"}.try_acquire({.wait = 10s, .hold_max = wait})));
    }
}

ROW(kinds, a_stop_request_ends_the_wait_and_leaves_nothing_behind) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    std::stop_source stop;
    outcome waiting;
    mutex{b, "x"}.async_acquire({.stop = stop.get_token()}, waiting.handler());
    f.pass(1ms);
    EXPECT_FALSE(waiting.arrived());
    stop.request_stop();
    EXPECT_TRUE(f.until([&] { return waiting.arrived(); }, 100ms));
    EXPECT_EQ(waiting.code(), errc::cancelled);
    held.release();
    expect_nothing_left(f, "x");
}

ROW(kinds, a_stop_request_does_not_end_a_hold) {
    auto user = connect(f);
    std::stop_source stop;
    const lease held = mutex{user, "x"}.acquire({.stop = stop.get_token()});
    stop.request_stop();
    EXPECT_TRUE(held.held());
    EXPECT_EQ((mutex{user, "y"}.try_acquire({.stop = stop.get_token()}).error().code),
              errc::cancelled);
}

ROW(kinds, a_blocked_caller_is_cancelled_from_another_thread) {
    f.with_threads();
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    std::stop_source stop;
    event_flag started;
    std::thread waiter{[&] {
        started.set();
        const auto got = mutex{b, "x"}.try_acquire({.wait = forever, .stop = stop.get_token()});
        EXPECT_EQ(got ? errc{} : got.error().code, errc::cancelled);
    }};
    EXPECT_TRUE(started.wait());
    stop.request_stop();
    waiter.join();
    held.release();
    expect_nothing_left(f, "x");
}

ROW(kinds, clients_are_served_in_the_order_in_which_they_came, &capabilities::fair) {
    auto holder = connect(f);
    lease held = mutex{holder, "x"}.acquire();
    std::vector<client> clients;
    std::vector<outcome> outcomes(5);
    for (auto& one : outcomes) {
        clients.push_back(connect(f));
        mutex{clients.back(), "x"}.async_acquire({}, one.handler());
    }
    held.release();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        ASSERT_TRUE(f.until([&] { return outcomes[i].granted(); })) << i;
        for (std::size_t later = i + 1; later < outcomes.size(); ++later) {
            EXPECT_FALSE(outcomes[later].arrived());
        }
        outcomes[i].take().release();
    }
}

ROW(kinds, waiters_of_one_client_are_served_in_order_with_rising_tokens) {
    const auto watch = std::make_shared<recorder>();
    auto user = connect(f, {.watch = watch});
    mutex x{user, "x"};
    lease held = x.acquire();
    std::vector<outcome> outcomes(10);
    for (auto& one : outcomes) x.async_acquire({}, one.handler());
    auto newest = held.token();
    held.release();
    for (auto& one : outcomes) {
        ASSERT_TRUE(f.until([&] { return one.granted(); }));
        lease next = one.take();
        EXPECT_GT(next.token(), newest);
        newest = next.token();
        EXPECT_TRUE(next.held());
        EXPECT_TRUE(f.really_held("x"));
        next.release();
    }
    EXPECT_FALSE(f.really_held("x"));
    const auto passed_on = watch->count(event::type::handed_over);
    EXPECT_EQ(passed_on > 0, user.caps().token_blocks);
    EXPECT_EQ(passed_on + watch->count(event::type::acquired), 11U);
}

// Tokens of a block are consecutive; the grants between two turns of another client are counted.
ROW(kinds, a_client_does_not_pass_a_lock_on_for_ever, &capabilities::token_blocks,
    &capabilities::fair) {
    auto many = connect(f, {.local_handovers_max = 3});
    auto one = connect(f);
    lease held = mutex{many, "x"}.acquire();
    std::vector<outcome> ours(12);
    for (auto& waiting : ours) mutex{many, "x"}.async_acquire({}, waiting.handler());
    outcome theirs;
    mutex{one, "x"}.async_acquire({}, theirs.handler());
    held.release();
    std::size_t before = 0;
    const auto somebody_has_it = [&] {
        return theirs.granted() || (before < ours.size() && ours[before].granted());
    };
    while (f.until(somebody_has_it) && !theirs.granted()) {
        ours[before++].take().release();
    }
    EXPECT_TRUE(theirs.granted());
    // Its first turn at the store, and at most three hand-overs of it, and, as the other one came
    // to the store's queue first, perhaps none.
    EXPECT_LE(before, 4U);
}

ROW(kinds, a_fair_mutex_is_never_passed_on_past_others, &capabilities::fair) {
    auto many = connect(f);
    auto one = connect(f);
    mutex x{many, "x", {.next = order::fair}};
    lease held = x.acquire();
    std::vector<outcome> ours(2);
    x.async_acquire({}, ours[0].handler());
    outcome theirs;
    mutex{one, "x", {.next = order::fair}}.async_acquire({}, theirs.handler());
    x.async_acquire({}, ours[1].handler());
    held.release();
    ASSERT_TRUE(f.until([&] { return theirs.granted(); })) << "it was the first at the store";
    EXPECT_FALSE(ours[0].arrived());
    theirs.take().release();
    ASSERT_TRUE(f.until([&] { return ours[0].granted(); }));
    mutex{one, "x", {.next = order::fair}}.async_acquire({}, theirs.handler());
    ours[0].take().release();
    EXPECT_TRUE(f.until([&] { return theirs.calls() == 2; }));
    EXPECT_FALSE(ours[1].arrived());
}

ROW(kinds, who_waits_behind_others_of_its_client_has_its_own_deadline) {
    auto a = connect(f);
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    outcome patient;
    outcome hasty;
    outcome tries;
    mutex{b, "x"}.async_acquire({}, patient.handler());
    mutex{b, "x"}.async_acquire({.wait = 20ms}, hasty.handler());
    mutex{b, "x"}.async_acquire({.wait = duration::zero()}, tries.handler());
    EXPECT_TRUE(f.until([&] { return tries.arrived() && hasty.arrived(); }));
    EXPECT_EQ(tries.code(), errc::busy);
    EXPECT_EQ(hasty.code(), errc::timed_out);
    EXPECT_FALSE(patient.arrived());
}

ROW(kinds, waiting_until_free_takes_nothing) {
    auto a = connect(f);
    auto b = connect(f);
    EXPECT_TRUE(b.try_wait_free("x"));
    lease held = mutex{a, "x"}.acquire();
    EXPECT_EQ(b.try_wait_free("x", {.wait = duration::zero()}).error().code, errc::busy);
    EXPECT_EQ(b.try_wait_free("x", {.wait = 20ms}).error().code, errc::timed_out);
    held.release();
    EXPECT_TRUE(b.try_wait_free("x", {.wait = 1s}));
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, who_waits_until_free_keeps_nobody_out, &capabilities::semaphores) {
    f.with_threads();
    auto a = connect(f);
    auto b = connect(f);
    lease held = semaphore{a, "x", 2}.acquire();
    std::thread watcher{[&] { EXPECT_TRUE(b.try_wait_free("x")); }};
    EXPECT_TRUE(f.until([&] { return (semaphore{b, "x", 2}.try_acquire()).has_value(); }));
    held.release();
    watcher.join();
}

ROW(kinds, a_handler_is_called_once_and_never_inside_the_call) {
    auto user = connect(f);
    outcome at_once;
    mutex{user, "x"}.async_acquire({}, at_once.handler());
    outcome refused;
    mutex{user, "x"}.async_acquire({.wait = -1ns}, refused.handler());
    EXPECT_TRUE(f.until([&] { return at_once.arrived() && refused.arrived(); }));
    EXPECT_TRUE(at_once.granted());
    EXPECT_EQ(refused.code(), errc::invalid_argument);
    f.pass(f.ttl());
    EXPECT_EQ(at_once.calls(), 1);
    EXPECT_EQ(refused.calls(), 1);
}

}  // namespace
}  // namespace holdfast::tests
