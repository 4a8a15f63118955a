// The test kit that users get: time, loss on purpose, cuts and pauses.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>

#include "support/wait.hpp"

namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;

TEST(test_kit, nothing_moves_time_but_the_test_and_waits) {
    world w;
    auto user = w.connect();
    const lease held = mutex{user, "x"}.acquire();
    EXPECT_EQ(w.elapsed(), 0s);
    w.advance(5s);
    EXPECT_EQ(w.elapsed(), 5s);
    auto other = w.connect();
    EXPECT_FALSE((mutex{other, "x"}.try_acquire({.wait = 2s})));
    EXPECT_EQ(w.elapsed(), 7s) << "a wait ends at once, two virtual seconds later";
}

TEST(test_kit, a_lease_is_renewed_on_the_way) {
    world w;
    auto user = w.connect();
    const lease held = mutex{user, "x"}.acquire();
    w.advance(24h);
    EXPECT_TRUE(held.held());
}

TEST(test_kit, clients_of_different_worlds_do_not_meet) {
    world one;
    world two;
    auto a = one.connect();
    auto b = two.connect();
    const lease held = mutex{a, "x"}.acquire();
    EXPECT_TRUE((mutex{b, "x"}.try_acquire()));
    EXPECT_EQ(one.show("x").holders.size(), 1U);
}

TEST(test_kit, loses_a_lease_and_tells_at_once) {
    world w;
    auto user = w.connect();
    lease held = mutex{user, "x"}.acquire();
    bool told = false;
    const std::stop_callback on_loss{held.lost(), [&] { told = true; }};
    w.lose(held, loss_reason::taken_over);
    EXPECT_TRUE(told);
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.loss(), loss_reason::taken_over);
    EXPECT_TRUE(w.show("x").holders.empty());
    EXPECT_EQ(held.try_release().error().loss, loss_reason::taken_over);
    EXPECT_THROW(w.lose(held), std::invalid_argument);
}

TEST(test_kit, loses_a_lease_silently_until_it_is_renewed) {
    world w;
    auto user = w.connect();
    auto other = w.connect();
    const lease held = mutex{user, "x"}.acquire();
    w.lose_silently(held);
    EXPECT_TRUE(held.held()) << "it cannot know yet";
    const lease thief = mutex{other, "x"}.acquire();
    EXPECT_GT(thief.token(), held.token()) << "this is what the token is for";
    w.advance(11s);
    EXPECT_EQ(held.loss(), loss_reason::taken_over);
    EXPECT_TRUE(thief.held());
}

TEST(test_kit, a_client_that_is_cut_off_loses_at_its_own_deadline) {
    world w;
    auto ours = w.connect();
    auto theirs = w.connect();
    const lease held = mutex{ours, "job"}.acquire();
    w.cut(ours);
    w.advance(31s);
    EXPECT_EQ(held.loss(), loss_reason::unreachable);
    EXPECT_TRUE((mutex{theirs, "job"}.try_acquire()));
    const auto refused = mutex{ours, "other"}.try_acquire({.wait = 1s});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::unavailable);
    EXPECT_EQ(mutex(ours, "other").try_acquire().error().code, errc::unavailable);
    w.heal(ours);
    EXPECT_TRUE((mutex{ours, "other"}.try_acquire()));
}

TEST(test_kit, a_wait_survives_a_short_cut) {
    world w;
    auto ours = w.connect();
    auto theirs = w.connect();
    lease held = mutex{theirs, "x"}.acquire();
    bool granted = false;
    mutex{ours, "x"}.async_acquire({}, [&](result<lease> got) { granted = got.has_value(); });
    w.cut(ours);
    held.release();
    w.advance(7s);
    EXPECT_FALSE(granted);
    w.heal(ours);
    w.advance(7s);
    EXPECT_TRUE(granted);
}

TEST(test_kit, a_paused_client_finds_its_lease_lost_when_it_wakes) {
    world w;
    auto ours = w.connect();
    auto theirs = w.connect();
    lease held = mutex{ours, "x"}.acquire();
    bool told = false;
    const std::stop_callback on_loss{held.lost(), [&] { told = true; }};
    lease theirs_now;
    mutex{theirs, "x"}.async_acquire({}, [&](result<lease> got) { theirs_now = *std::move(got); });
    w.pause(ours, 40s);
    EXPECT_TRUE(theirs_now.held());
    EXPECT_FALSE(held.held()) << "it is computed from the clock, nobody has to tell";
    w.advance(1ms);
    EXPECT_TRUE(told);
    EXPECT_EQ(held.try_release().error().code, errc::lost);
    w.advance(1s);
    EXPECT_TRUE(theirs_now.held());
}

TEST(test_kit, handlers_run_when_the_test_settles) {
    world w;
    auto user = w.connect();
    int calls = 0;
    mutex{user, "x"}.async_acquire({}, [&](const result<lease>& got) {
        EXPECT_TRUE(got);
        ++calls;
    });
    EXPECT_EQ(calls, 0) << "never inside the call";
    w.settle();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(w.elapsed(), 0s);
}

TEST(test_kit, what_a_handler_throws_is_swallowed) {
    world w;
    auto user = w.connect();
    mutex{user, "x"}.async_acquire(
        {}, [](const result<lease>&) { throw std::runtime_error("thrown in a handler"); });
    EXPECT_NO_THROW(w.settle());
    EXPECT_TRUE((mutex{user, "x"}.try_acquire())) << "the lease was dropped with the handler";
}

TEST(test_kit, by_hand_a_blocked_call_waits_for_the_thread_that_moves_time) {
    world w{time_flow::manual};
    auto ours = w.connect();
    auto theirs = w.connect();
    lease held = mutex{theirs, "x"}.acquire();
    tests::event_flag started;
    tests::event_flag ended;
    std::jthread waiter{[&] {
        started.set();
        const auto late = mutex{ours, "x"}.try_acquire({.wait = 10s});
        EXPECT_FALSE(late);
        EXPECT_EQ(late.error().code, errc::timed_out);
        ended.set();
    }};
    EXPECT_TRUE(started.wait());
    EXPECT_TRUE(tests::eventually([&] { return w.show("x").waiters.size() == 1; }));
    w.advance(9s);
    EXPECT_FALSE(ended.is_set());
    w.advance(1s);
    EXPECT_TRUE(ended.wait());
    EXPECT_EQ(w.elapsed(), 10s);
}

TEST(test_kit, by_hand_a_release_wakes_a_blocked_thread_without_time) {
    world w{time_flow::manual};
    auto ours = w.connect();
    auto theirs = w.connect();
    lease held = mutex{theirs, "x"}.acquire();
    tests::event_flag got_it;
    std::jthread waiter{[&] {
        const lease got = mutex{ours, "x"}.acquire();
        got_it.set();
    }};
    EXPECT_TRUE(tests::eventually([&] { return w.show("x").waiters.size() == 1; }));
    held.release();
    EXPECT_TRUE(got_it.wait());
    EXPECT_EQ(w.elapsed(), 0s);
}

TEST(test_kit, a_world_may_end_before_its_clients) {
    std::optional<client> user;
    std::optional<lease> held;
    {
        world w;
        user = w.connect();
        held = mutex{*user, "x"}.acquire();
    }
    EXPECT_TRUE(held->held());
    EXPECT_TRUE(held->try_release());
}

TEST(test_kit, a_hundred_thousand_names_leave_nothing_behind) {
    world w;
    auto user = w.connect();
    fencing_token newest;
    for (int i = 0; i < 100'000; ++i) {
        const lease held = mutex{user, "name-" + std::to_string(i)}.acquire();
        newest = std::max(newest, held.token());
    }
    EXPECT_TRUE(user.list("", true).value().empty());
    const lease again = mutex{user, "name-0"}.acquire();
    EXPECT_GT(again.token(), newest) << "a forgotten name may not begin again with low tokens";
}

}  // namespace
}  // namespace holdfast::testing
