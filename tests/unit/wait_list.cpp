#include "stores/lease_table/wait_list.hpp"

#include <gtest/gtest.h>

namespace holdfast::lease_table {
namespace {

constexpr claim_id one{{1, 0}};
constexpr claim_id two{{2, 0}};

TEST(wait_list, answers_a_wait_when_its_claim_is_woken) {
    wait_list waits;
    const auto cursor = waits.open(one);
    EXPECT_TRUE(waits.start(7, one, cursor));
    EXPECT_EQ(waits.wake(two), std::nullopt);
    EXPECT_EQ(waits.wake(one), call_id{7});
    EXPECT_EQ(waits.wake(one), std::nullopt) << "a wait is answered once";
}

TEST(wait_list, does_not_miss_a_wake_up_between_refusal_and_wait) {
    wait_list waits;
    const auto cursor = waits.open(one);
    EXPECT_EQ(waits.wake(one), std::nullopt);
    EXPECT_FALSE(waits.start(7, one, cursor));
    EXPECT_TRUE(waits.start(8, one, waits.open(one)));
}

TEST(wait_list, answers_at_once_for_a_claim_that_does_not_wait) {
    wait_list waits;
    EXPECT_FALSE(waits.start(7, one, 0));
    const auto cursor = waits.open(one);
    waits.close(one);
    EXPECT_FALSE(waits.contains(one));
    EXPECT_FALSE(waits.start(7, one, cursor));
}

TEST(wait_list, forgets_a_wait_that_was_ended) {
    wait_list waits;
    const auto cursor = waits.open(one);
    EXPECT_TRUE(waits.start(7, one, cursor));
    waits.end(7);
    waits.end(7);
    EXPECT_EQ(waits.wake(one), std::nullopt);
    EXPECT_TRUE(waits.contains(one));
}

TEST(wait_list, wakes_all_waits_and_spoils_all_cursors) {
    wait_list waits;
    const auto first = waits.open(one);
    const auto second = waits.open(two);
    EXPECT_TRUE(waits.start(7, one, first));
    EXPECT_EQ(waits.wake_all(), std::vector<call_id>{7});
    EXPECT_FALSE(waits.start(8, two, second));
    EXPECT_TRUE(waits.wake_all().empty());
}

TEST(wait_list, keeps_the_cursor_of_a_claim_that_asks_again) {
    wait_list waits;
    EXPECT_EQ(waits.open(one), waits.open(one));
    const auto before = waits.open(one);
    waits.wake(one);
    EXPECT_NE(waits.open(one), before);
}

}  // namespace
}  // namespace holdfast::lease_table
