#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "runtime/loop.hpp"
#include "runtime/timer.hpp"
#include "support/wait.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using tests::event_flag;
using tests::eventually;

time_point in(duration from_now) {
    return boot_clock::now() + from_now;
}

TEST(timer, fires_once_without_a_blocked_caller) {
    loop events;
    std::atomic<int> calls = 0;
    timer one{events, [&] { ++calls; }};
    const auto when = in(10ms);
    one.set(when);
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
    EXPECT_GE(boot_clock::now(), when);
    one.set(in(-1h));
    EXPECT_TRUE(eventually([&] { return calls == 2; }));
}

TEST(timer, fires_for_the_caller_that_blocks) {
    loop events;
    signal done;
    timer one{events, [&] { events.set(done); }};
    one.set(in(5ms));
    EXPECT_TRUE(events.wait(done, in(10s)));
}

TEST(timer, a_caller_that_leaves_leaves_it_served) {
    loop events;
    event_flag fired;
    std::optional<timer> one;
    signal done;
    events.on_due([&] {
        one.emplace(events, [&] { fired.set(); });
        one->set(in(30ms));
        events.set(done);
    });
    // Nothing has started the loop's own thread but the caller's limit, which has passed by then.
    events.wake_at(in(1ms));
    EXPECT_TRUE(events.wait(done, in(10s)));
    EXPECT_TRUE(fired.wait());
}

TEST(timer, a_later_setting_replaces_an_earlier_one_that_is_due) {
    loop events;
    event_flag go_on;
    event_flag blocked;
    std::atomic<int> calls = 0;
    timer replaced{events, [&] { ++calls; }};
    timer cancelled{events, [&] { ++calls; }};
    auto destroyed = std::make_unique<timer>(events, [&] { ++calls; });
    events.post([&] {
        blocked.set();
        go_on.wait();
    });
    EXPECT_TRUE(blocked.wait());
    const auto soon = in(1ms);
    replaced.set(soon);
    cancelled.set(soon);
    destroyed->set(soon);
    EXPECT_TRUE(eventually([&] { return boot_clock::now() > soon; }));
    replaced.set(in(1h));
    cancelled.cancel();
    destroyed.reset();
    go_on.set();
    event_flag passed;
    timer after{events, [&] { passed.set(); }};
    after.set(in(5ms));
    EXPECT_TRUE(passed.wait());
    EXPECT_EQ(calls, 0);
    replaced.set(in(0s));
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
}

TEST(timer, may_set_and_destroy_itself) {
    loop events;
    event_flag gone;
    std::atomic<int> calls = 0;
    std::unique_ptr<timer> one;
    one = std::make_unique<timer>(events, [&] {
        if (++calls < 3) return one->set(in(1ms));
        one.reset();
        gone.set();
    });
    one->set(in(1ms));
    EXPECT_TRUE(gone.wait());
    EXPECT_EQ(calls, 3);
}

TEST(timer, what_it_throws_is_swallowed) {
    loop events;
    std::atomic<int> calls = 0;
    timer one{events, [&] {
                  ++calls;
                  throw std::runtime_error("thrown in a timer");
              }};
    one.set(in(0s));
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
    one.set(in(0s));
    EXPECT_TRUE(eventually([&] { return calls == 2; }));
}

}  // namespace
}  // namespace holdfast::runtime
