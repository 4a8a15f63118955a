// What the demo concludes from recorded actions.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "cli/demo/verdict.hpp"

namespace holdfast::cli::demo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

time_point at(int ms) {
    return time_point{std::chrono::milliseconds{ms}};
}

action write(unsigned thread, std::int64_t seen_version, std::int64_t version) {
    action out;
    out.process = thread % 2 + 1;
    out.thread = thread;
    out.read_at = at(static_cast<int>(seen_version) * 10 + 5 + static_cast<int>(thread));
    out.granted = out.asked = out.read_at;
    out.written_at = out.released = at(static_cast<int>(version) * 10 + 5);
    out.seen_version = seen_version;
    out.version = version;
    out.result = outcome::written;
    return out;
}

action hold(unsigned process, int from, int to, std::uint64_t token) {
    action out;
    out.process = process;
    out.granted = out.read_at = at(from);
    out.written_at = out.released = at(to);
    out.token = fencing_token{token};
    out.result = outcome::nothing_to_do;
    return out;
}

run judged(run what, std::vector<action> actions) {
    what.actions = std::move(actions);
    judge(what);
    return what;
}

run stock_run(std::vector<action> actions, contents after) {
    return judged({.what = experiment::stock, .before = {0, 10, 0}, .after = after},
                  std::move(actions));
}

/// The versions of victim and culprit.
std::vector<std::pair<std::int64_t, std::int64_t>> versions(const run& of) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (const mistake& each : of.mistakes) {
        out.emplace_back(of.actions[each.victim].version, of.actions[each.culprit].version);
    }
    return out;
}

TEST(demo_verdict, sales_that_build_on_each_other_are_right) {
    const run found = stock_run({write(1, 0, 1), write(2, 1, 2), write(3, 2, 3)}, {0, 7, 3});
    EXPECT_THAT(found.mistakes, IsEmpty());
    EXPECT_EQ(found.crowd, 1U);
    EXPECT_TRUE(found.correct);
}

TEST(demo_verdict, a_sale_written_over_is_lost_to_the_first_who_had_not_seen_it) {
    // 1 and 2 both read the beginning; 3 goes on from 2: the stock shows 2 and 3.
    const run found = stock_run({write(1, 0, 1), write(2, 0, 2), write(3, 2, 3)}, {0, 8, 3});
    EXPECT_THAT(versions(found), ElementsAre(Pair(1, 2)));
    EXPECT_EQ(lost_updates(found), 1);
    EXPECT_EQ(found.crowd, 2U);
    EXPECT_FALSE(found.correct);
    EXPECT_THAT(found.mistakes.at(0).text, HasSubstr("the sale of P2/T1 is missing"));
}

TEST(demo_verdict, a_sale_that_builds_on_a_lost_one_is_lost_with_it) {
    // 3 had read the beginning and writes over 1 and 2.
    const run found = stock_run({write(1, 0, 1), write(2, 1, 2), write(3, 0, 3)}, {0, 9, 3});
    EXPECT_THAT(versions(found), ElementsAre(Pair(1, 3), Pair(2, 3)));
    EXPECT_EQ(lost_updates(found), 2);
}

TEST(demo_verdict, each_row_after_the_first_is_a_mistake) {
    const run found = judged({.what = experiment::phones, .after = {3, 10, 0}},
                             {write(1, 0, 1), write(2, 0, 2), write(3, 0, 3)});
    EXPECT_THAT(versions(found), ElementsAre(Pair(1, 2), Pair(1, 3)));
    EXPECT_EQ(duplicates(found), 2);
    EXPECT_FALSE(found.correct);
}

TEST(demo_verdict, holds_are_counted_and_compared) {
    const run alone{.what = experiment::phones, .locked = true, .after = {1, 10, 0}};
    const run good = judged(alone, {hold(1, 0, 5, 1), hold(2, 6, 7, 2), hold(2, 7, 8, 3)});
    EXPECT_EQ(std::pair(good.handovers, good.overlaps), std::pair(1UL, 0UL));
    EXPECT_TRUE(good.correct);

    const run overlapping = judged(alone, {hold(1, 0, 5, 1), hold(2, 4, 7, 2)});
    EXPECT_EQ(overlapping.overlaps, 1U);
    EXPECT_FALSE(overlapping.correct);

    const run falling = judged(alone, {hold(1, 0, 5, 2), hold(2, 6, 7, 1)});
    EXPECT_EQ(falling.overlaps, 1U);
    EXPECT_FALSE(falling.correct);
}

}  // namespace
}  // namespace holdfast::cli::demo
