#include "core/timer_queue.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

struct one_timer final : timed {
    void fall_due(engine&, actions&) override {}
};

time_point at(int when) {
    return time_point{duration{when}};
}

TEST(timer_queue, is_empty_at_first) {
    timer_queue queue;
    EXPECT_EQ(queue.next(), time_point::max());
    EXPECT_EQ(queue.pop_due(time_point::max()), nullptr);
}

TEST(timer_queue, gives_timers_in_the_order_of_their_time) {
    timer_queue queue;
    one_timer late;
    one_timer early;
    queue.schedule(late, at(20));
    queue.schedule(early, at(10));
    EXPECT_EQ(queue.next(), at(10));
    EXPECT_EQ(queue.pop_due(at(9)), nullptr);
    EXPECT_EQ(queue.pop_due(at(20)), &early);
    EXPECT_EQ(queue.pop_due(at(20)), &late);
    EXPECT_EQ(queue.pop_due(at(20)), nullptr);
}

TEST(timer_queue, gives_timers_of_one_moment_in_the_order_of_scheduling) {
    timer_queue queue;
    std::vector<one_timer> timers(5);
    for (auto& timer : timers) queue.schedule(timer, at(1));
    queue.cancel(timers[2]);
    for (const std::size_t i : {0U, 1U, 3U, 4U}) EXPECT_EQ(queue.pop_due(at(1)), &timers[i]);
    EXPECT_EQ(queue.next(), time_point::max());
}

TEST(timer_queue, replaces_an_earlier_schedule_of_the_same_timer) {
    timer_queue queue;
    one_timer timer;
    queue.schedule(timer, at(10));
    queue.schedule(timer, at(30));
    EXPECT_EQ(queue.pop_due(at(20)), nullptr);
    queue.schedule(timer, at(5));
    EXPECT_EQ(queue.next(), at(5));
    EXPECT_EQ(queue.pop_due(at(5)), &timer);
    EXPECT_EQ(queue.pop_due(at(99)), nullptr);
}

TEST(timer_queue, keeps_the_place_of_a_timer_that_is_scheduled_for_the_same_moment_again) {
    timer_queue queue;
    one_timer first;
    one_timer second;
    queue.schedule(first, at(1));
    queue.schedule(second, at(1));
    queue.schedule(first, at(1));
    EXPECT_EQ(queue.pop_due(at(1)), &first);
}

TEST(timer_queue, forgets_a_cancelled_timer) {
    timer_queue queue;
    one_timer timer;
    queue.cancel(timer);
    queue.schedule(timer, at(1));
    queue.cancel(timer);
    queue.cancel(timer);
    EXPECT_EQ(queue.next(), time_point::max());
    queue.schedule(timer, at(2));
    EXPECT_EQ(queue.pop_due(at(2)), &timer);
}

TEST(timer_queue, behaves_like_a_sorted_list) {
    std::minstd_rand random{1};
    timer_queue queue;
    std::vector<one_timer> timers(20);
    std::map<one_timer*, std::pair<int, int>> model;  // when, and since which step
    for (int step = 0; step < 20'000; ++step) {
        auto& timer = timers[random() % timers.size()];
        const int when = static_cast<int>(random() % 8);
        switch (random() % 3) {
            case 0:
                queue.schedule(timer, at(when));
                if (!model.contains(&timer) || model[&timer].first != when) {
                    model[&timer] = {when, step};
                }
                break;
            case 1:
                queue.cancel(timer);
                model.erase(&timer);
                break;
            default: {
                const auto next = std::ranges::min_element(
                    model, {}, [](const auto& entry) { return entry.second; });
                const bool due = next != model.end() && next->second.first <= when;
                timed* popped = queue.pop_due(at(when));
                ASSERT_EQ(popped, due ? next->first : nullptr);
                if (due) model.erase(next);
            }
        }
    }
}

}  // namespace
}  // namespace holdfast::core
