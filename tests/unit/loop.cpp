#include "runtime/loop.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/wait.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using tests::event_flag;

time_point in(duration from_now) {
    return boot_clock::now() + from_now;
}

TEST(loop, the_blocked_caller_runs_the_handlers_itself) {
    loop events;
    signal done;
    std::atomic<std::thread::id> ran_in;
    bool posted = false;
    events.on_due([&] {
        ran_in = std::this_thread::get_id();
        events.set(done);
    });
    // The first timer starts the loop's own thread, which steps back for whoever blocks.
    for (int round = 0; round < 20 && ran_in != std::this_thread::get_id(); ++round) {
        done.is_set = false;
        events.wake_at(in(20ms));
        posted = events.wait(done, in(10s));
    }
    EXPECT_TRUE(posted);
    EXPECT_EQ(ran_in, std::this_thread::get_id());
}

TEST(loop, a_wait_ends_at_its_limit) {
    loop events;
    signal never;
    const auto limit = in(20ms);
    EXPECT_FALSE(events.wait(never, limit));
    EXPECT_GE(boot_clock::now(), limit);
    EXPECT_FALSE(events.wait(never, in(-1s)));
}

TEST(loop, a_signal_that_is_set_already_ends_the_wait_at_once) {
    loop events;
    signal done;
    events.set(done);
    EXPECT_TRUE(events.wait(done, time_point::max()));
}

TEST(loop, any_thread_may_end_a_wait) {
    loop events;
    signal done;
    std::jthread other{[&] { events.set(done); }};
    EXPECT_TRUE(events.wait(done, in(10s)));
}

TEST(loop, its_own_thread_serves_while_nobody_waits) {
    loop events;
    event_flag fired;
    events.on_due([&] { fired.set(); });
    events.wake_at(in(1ms));
    EXPECT_TRUE(fired.wait());
    event_flag posted;
    events.post([&] { posted.set(); });
    EXPECT_TRUE(posted.wait());
}

TEST(loop, an_earlier_time_that_is_set_stays) {
    loop events;
    std::atomic<int> calls = 0;
    events.on_due([&] { ++calls; });
    events.wake_at(in(5ms));
    events.wake_at(in(1h));
    EXPECT_TRUE(tests::eventually([&] { return calls == 1; }));
}

TEST(loop, blocked_callers_take_over_from_each_other) {
    loop events;
    std::vector<signal> signals(8);
    std::vector<std::jthread> callers;
    std::atomic<int> returned = 0;
    for (auto& one : signals) {
        callers.emplace_back([&] {
            EXPECT_TRUE(events.wait(one, in(20s)));
            ++returned;
        });
    }
    // Whoever drives leaves first; the handler that sets the next one needs a new driver.
    for (auto& one : signals) {
        const int before = returned;
        events.post([&] { events.set(one); });
        EXPECT_TRUE(tests::eventually([&] { return returned == before + 1; }));
    }
}

TEST(loop, the_limits_of_callers_that_do_not_drive_count_as_well) {
    loop events;
    signal never;
    std::jthread driver{[&] { EXPECT_FALSE(events.wait(never, in(300ms))); }};
    signal own;
    const auto limit = in(30ms);
    EXPECT_FALSE(events.wait(own, limit));
    EXPECT_GE(boot_clock::now(), limit);
}

TEST(loop, a_handler_that_waits_serves_the_others_meanwhile) {
    loop events;
    signal outer;
    events.post([&] {
        EXPECT_TRUE(events.driving());
        signal inner;
        events.post([&] { events.set(inner); });
        EXPECT_TRUE(events.wait(inner, in(10s)));
        events.set(outer);
    });
    EXPECT_TRUE(events.wait(outer, in(10s)));
    EXPECT_FALSE(events.driving());
}

TEST(loop, a_handler_of_the_timer_that_waits_still_has_a_timer) {
    loop events;
    signal outer;
    bool entered = false;
    events.on_due([&] {
        if (std::exchange(entered, true)) return;
        signal never;
        EXPECT_FALSE(events.wait(never, in(20ms)));
        events.set(outer);
    });
    events.wake_at(in(1ms));
    EXPECT_TRUE(events.wait(outer, in(10s)));
}

TEST(loop, what_a_handler_throws_is_swallowed) {
    loop events;
    signal done;
    events.post([] { throw std::runtime_error("thrown in a handler"); });
    events.post([&] { events.set(done); });
    EXPECT_TRUE(events.wait(done, in(10s)));
}

TEST(loop, stopping_ends_waits_and_handlers) {
    loop events;
    signal never;
    event_flag waiting;
    std::jthread caller{[&] {
        waiting.set();
        EXPECT_FALSE(events.wait(never, time_point::max()));
    }};
    EXPECT_TRUE(waiting.wait());
    events.stop();
    events.stop();
    std::atomic<bool> ran = false;
    events.post([&] { ran = true; });
    EXPECT_FALSE(events.wait(never, in(5ms)));
    EXPECT_FALSE(ran);
}

TEST(loop, a_handler_may_destroy_its_loop) {
    auto events = std::make_unique<loop>();
    event_flag gone;
    std::atomic<bool> ran_after = false;
    events->post([&] {
        events->post([&] { ran_after = true; });
        events.reset();
        gone.set();
    });
    EXPECT_TRUE(gone.wait());
    EXPECT_FALSE(ran_after) << "no handler runs after stop() was called in one";
}

TEST(loop, many_loops_are_made_and_ended_quickly) {
    for (int i = 0; i < 300; ++i) {
        loop events;
        signal done;
        if (i % 3 == 0) events.post([] {});
        if (i % 3 == 1) events.wake_at(in(0s));
        events.post([&] { events.set(done); });
        if (i % 2 == 0) {
            EXPECT_TRUE(events.wait(done, in(10s)));
        }
        if (i % 2 == 1) events.stop();
    }
}

}  // namespace
}  // namespace holdfast::runtime
