// Who waits, who is called, who may pass, and whose death is watched.
#include <vector>

#include <gtest/gtest.h>

#include "unit/tables.hpp"

namespace holdfast::lease_table {
namespace {

using namespace std::chrono_literals;
using numbers = std::vector<std::uint64_t>;

TEST(lease_table_queue, a_release_calls_the_head_of_the_queue) {
    table t;
    t.hold(1, plain());
    t.queue(2, plain());
    t.queue(3, plain());
    EXPECT_EQ(t.free(1), numbers{2});
    EXPECT_TRUE(t.rows.waiters[0].called);
    EXPECT_FALSE(t.rows.waiters[1].called);
    EXPECT_FALSE(t.ask(3, plain(), true));
    EXPECT_TRUE(t.ask(2, plain(), true));
    EXPECT_EQ(t.rows.waiters.size(), 1U);
    EXPECT_EQ(t.free(2), numbers{3});
}

TEST(lease_table_queue, readers_at_the_head_are_called_together_up_to_the_next_writer) {
    table t;
    t.hold(1, writer());
    for (const std::uint64_t reading : {2U, 3U}) t.queue(reading, reader());
    t.queue(4, writer());
    t.queue(5, reader());
    EXPECT_EQ(t.free(1), (numbers{2, 3}));
    EXPECT_TRUE(t.ask(3, reader(), true));
    EXPECT_TRUE(t.ask(2, reader(), true));
    EXPECT_FALSE(t.ask(5, reader(), true));
    EXPECT_EQ(t.free(2), numbers{});
    EXPECT_EQ(t.free(3), numbers{4});
}

TEST(lease_table_queue, as_many_permits_are_called_as_fit) {
    table t;
    t.hold(1, permits(4, 4));
    t.queue(2, permits(2, 4));
    t.queue(3, permits(1, 4));
    t.queue(4, permits(2, 4));
    t.queue(5, permits(1, 4));
    EXPECT_EQ(t.free(1), (numbers{2, 3}))
        << "the fourth does not fit and the fifth may not pass it";
}

TEST(lease_table_queue, probes_are_called_when_nobody_holds_and_block_nobody) {
    table t;
    t.hold(1, reader());
    t.hold(2, reader());
    t.queue(3, probe());
    t.queue(4, writer());
    t.queue(5, probe());
    EXPECT_EQ(t.free(1), numbers{});
    EXPECT_EQ(t.free(2), (numbers{3, 4, 5}));
    EXPECT_TRUE(t.ask(4, writer(), true));
    EXPECT_FALSE(t.ask(3, probe(), true)) << "too late";
    EXPECT_EQ(t.free(4), numbers{3}) << "the other one was called before and has not asked since";
}

TEST(lease_table_queue, who_is_called_is_called_once_until_it_asks_again) {
    table t;
    t.hold(1, permits(1, 2));
    t.hold(2, permits(1, 2));
    t.queue(3, permits(1, 2));
    EXPECT_EQ(t.free(1), numbers{3});
    EXPECT_EQ(t.free(2), numbers{});
    EXPECT_TRUE(t.ask(3, permits(1, 2), true));
}

TEST(lease_table_queue, a_called_waiter_is_passed_over_only_after_its_patience) {
    table t;
    t.hold(1, plain());
    t.queue(2, plain());
    t.queue(3, plain());
    t.free(1);
    t.at.now += patience;
    EXPECT_FALSE(t.ask(3, plain(), true));
    t.at.now += duration{1};
    EXPECT_TRUE(t.ask(3, plain(), true));
    EXPECT_FALSE(t.ask(2, plain(), true)) << "it keeps its place";
    EXPECT_EQ(t.rows.waiters[0].claim, id_of(2));
    EXPECT_FALSE(t.rows.waiters[0].called) << "by asking it begins anew";
    EXPECT_EQ(t.free(3), numbers{2});
}

TEST(lease_table_queue, a_refusal_tells_when_the_patience_with_another_ends) {
    table t;
    t.hold(1, plain());
    t.queue(2, plain());
    t.free(1);
    auto what = plain();
    what.id = id_of(3);
    what.ttl = t.ttl;
    const auto answer = acquire(t.rows, what, t.at, t.then);
    EXPECT_EQ(std::get<refused>(*answer).retry_after, patience);
}

TEST(lease_table_queue, a_refusal_is_never_longer_than_the_holder_or_the_limit) {
    table t;
    t.ttl = 2s;
    t.hold(1, plain());
    t.ttl = 30s;
    auto what = plain();
    what.id = id_of(2);
    what.ttl = t.ttl;
    EXPECT_EQ(std::get<refused>(*acquire(t.rows, what, t.at, t.then)).retry_after, 2s);
    t.renew(1, 1h);
    EXPECT_EQ(std::get<refused>(*acquire(t.rows, what, t.at, t.then)).retry_after, poll_max);
}

TEST(lease_table_queue, a_waiter_that_stays_away_loses_its_place) {
    table t;
    t.ttl = 1h;
    t.hold(1, plain());
    t.queue(2, plain());
    t.at.now += waiter_ttl / 2;
    t.queue(3, plain());
    t.queue(2, plain());
    EXPECT_EQ(t.rows.waiters[0].claim, id_of(2)) << "who asks again keeps its place";
    for (int i = 0; i < 2; ++i) {
        t.at.now += waiter_ttl / 2;
        t.queue(2, plain());
    }
    EXPECT_EQ(t.rows.waiters.size(), 1U);
    EXPECT_EQ(t.rows.waiters[0].claim, id_of(2));
}

TEST(lease_table_queue, a_withdrawn_waiter_wakes_the_one_that_watched_it) {
    table t;
    t.hold(1, plain());
    t.queue(2, plain());
    t.queue(3, plain());
    t.queue(4, plain());
    EXPECT_EQ(t.free(3), numbers{4});
    EXPECT_EQ(t.free(4), numbers{});
}

TEST(lease_table_queue, the_first_waiter_watches_the_holders_and_the_others_their_predecessors) {
    table t;
    t.hold(1, reader(), 11);
    t.hold(2, reader(), 12);
    t.hold(3, reader(), 11);
    t.queue(4, writer(), 14);
    EXPECT_EQ(t.watched(), (numbers{11, 12}));
    t.queue(5, writer(), 15);
    EXPECT_EQ(t.watched(), numbers{14});
    t.queue(6, reader(), 16);
    EXPECT_EQ(t.watched(), numbers{15});
    t.queue(7, probe(), 17);
    EXPECT_EQ(t.watched(), (numbers{11, 12})) << "a probe waits for the holders";
}

TEST(lease_table_queue, a_detached_hold_has_no_process_to_watch) {
    table t;
    t.hold(1, plain(), 11);
    t.rows.holds[0].bound = false;
    t.queue(2, plain());
    EXPECT_EQ(t.watched(), numbers{});
}

TEST(lease_table_queue, a_dead_predecessor_is_dropped_and_the_next_one_watched) {
    table t;
    deaths dead{{13, 14}};
    t.hold(1, plain(), 11);
    t.queue(2, plain(), 12);
    t.queue(3, plain(), 13);
    t.queue(4, plain(), 14);
    t.queue(5, plain(), 15);
    t.at.processes = &dead;
    t.queue(5, plain(), 15);
    EXPECT_EQ(t.watched(), numbers{12});
    EXPECT_EQ(t.rows.waiters.size(), 2U);
}

TEST(lease_table_queue, a_dead_holder_makes_room_when_somebody_wants_it) {
    table t;
    deaths dead{{11}};
    t.hold(1, plain(), 11);
    t.queue(2, plain(), 12);
    t.at.processes = &dead;
    EXPECT_TRUE(t.ask(2, plain(), true, 12));
    EXPECT_EQ(t.rows.holds.size(), 1U);
}

TEST(lease_table_queue, who_finds_a_holder_dead_calls_the_one_whose_turn_it_is) {
    table t;
    deaths dead{{11}};
    t.hold(1, plain(), 11);
    t.queue(2, plain(), 12);
    t.queue(3, plain(), 13);
    t.at.processes = &dead;
    EXPECT_FALSE(t.ask(3, plain(), true, 13));
    EXPECT_EQ(t.woken(), numbers{2});
    EXPECT_TRUE(t.ask(2, plain(), true, 12));
}

TEST(lease_table_queue, dead_waiters_in_front_make_room) {
    table t;
    deaths dead{{12, 13}};
    t.hold(1, plain(), 11);
    t.queue(2, plain(), 12);
    t.queue(3, plain(), 13);
    t.queue(4, plain(), 14);
    t.free(1);
    t.at.processes = &dead;
    EXPECT_TRUE(t.ask(4, plain(), true, 14));
    EXPECT_TRUE(t.rows.waiters.empty());
}

TEST(lease_table_queue, an_unbound_hold_outlives_its_process) {
    table t;
    deaths dead{{11}};
    t.hold(1, plain(), 11);
    t.rows.holds[0].bound = false;
    t.at.processes = &dead;
    EXPECT_FALSE(t.ask(2, plain()));
    t.at.now += t.ttl;
    EXPECT_TRUE(t.ask(2, plain()));
}

TEST(lease_table_queue, one_is_never_dead_to_oneself) {
    table t;
    deaths dead{{11}};
    t.at.processes = &dead;
    t.hold(1, plain(), 11);
    EXPECT_FALSE(t.ask(2, plain(), false, 11));
}

TEST(lease_table_queue, a_downgrade_calls_the_readers_at_the_head) {
    table t;
    t.hold(1, writer());
    t.queue(2, reader());
    t.queue(3, reader());
    t.queue(4, writer());
    t.then = {};
    const auto reply = downgrade(t.rows, {.hold = {"x", id_of(1)}, .ttl = t.ttl}, t.at, t.then);
    EXPECT_EQ(reply.how, access::shared);
    EXPECT_EQ(t.woken(), (numbers{2, 3}));
}

TEST(lease_table_queue, an_eviction_calls_the_next_one) {
    table t;
    t.hold(1, plain());
    t.queue(2, plain());
    t.then = {};
    EXPECT_FALSE(evict(t.rows, fencing_token{99}, t.at, t.then));
    const auto before = t.rows.token;
    EXPECT_TRUE(evict(t.rows, before, t.at, t.then));
    EXPECT_GT(t.rows.token, before);
    EXPECT_EQ(t.woken(), numbers{2});
}

TEST(lease_table_queue, an_expired_hold_calls_the_next_one_whatever_is_asked) {
    table t;
    t.hold(1, plain());
    t.queue(2, plain());
    t.rows.waiters[0].expires = t.at.now + 1h;
    t.at.now += t.ttl;
    EXPECT_EQ(t.renew(9, t.ttl).lost, loss_reason::removed);
    EXPECT_EQ(t.woken(), numbers{2});
}

}  // namespace
}  // namespace holdfast::lease_table
