// Who is admitted: every small combination of holders, waiters and claims, against the rule in
// words: what is held, what waits in front and the claim itself may not exceed the capacity.
#include "stores/lease_table/lease_table.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/tables.hpp"

namespace holdfast::lease_table {
namespace {

using namespace std::chrono_literals;

TEST(lease_table, a_semaphore_admits_what_fits_beside_holders_and_earlier_waiters) {
    for (std::uint32_t capacity = 1; capacity <= 4; ++capacity) {
        for (std::uint32_t held = 0; held <= capacity; ++held) {
            for (std::uint32_t waiting = 0; waiting <= capacity; ++waiting) {
                for (std::uint32_t wanted = 1; wanted <= capacity; ++wanted) {
                    for (const auto next : {order::standard, order::fair, order::barging}) {
                        table t;
                        if (held != 0) t.hold(1, permits(held, capacity));
                        // A waiter is there only if it could not be served.
                        const bool in_front = waiting != 0 && held + waiting > capacity;
                        if (in_front) t.queue(2, permits(waiting, capacity));
                        auto claim = permits(wanted, capacity);
                        claim.next = next;
                        const bool counts = in_front && next != order::barging;
                        const bool fits = held + wanted + (counts ? waiting : 0) <= capacity;
                        EXPECT_EQ(t.ask(3, claim), fits)
                            << capacity << ' ' << held << ' ' << waiting << ' ' << wanted;
                        EXPECT_LE(t.held_weight(), capacity);
                    }
                }
            }
        }
    }
}

struct shape {
    const char* name;
    claim what;
};

TEST(lease_table, readers_and_writers_are_admitted_by_the_table_of_the_documentation) {
    const std::vector<std::vector<shape>> holders{
        {}, {{"W", writer()}}, {{"R", reader()}}, {{"R", reader()}, {"R", reader()}}};
    const std::vector<shape> all{{"W", writer()}, {"R", reader()}, {"M", plain()}};
    for (const auto& held : holders) {
        for (const auto& first : all) {
            for (const auto& wanted : all) {
                for (const bool barging : {false, true}) {
                    table t;
                    std::uint64_t id = 0;
                    for (const auto& one : held) t.hold(++id, one.what);
                    const bool shared_held = !held.empty() && held[0].name[0] == 'R';
                    const bool first_waits =
                        !held.empty() && !(shared_held && first.name[0] == 'R');
                    if (first_waits) t.queue(++id, first.what);
                    auto claim = wanted.what;
                    if (barging) claim.next = order::barging;
                    const bool reads = wanted.name[0] == 'R';
                    const bool beside_holders = held.empty() || (shared_held && reads);
                    // Nothing stands before it except a waiter that wants it alone, or that it
                    // would keep out itself.
                    const bool behind = first_waits && !barging && !(reads && first.name[0] == 'R');
                    EXPECT_EQ(t.ask(++id, claim), beside_holders && !behind)
                        << held.size() << first.name << wanted.name << barging;
                }
            }
        }
    }
}

TEST(lease_table, a_probe_is_admitted_when_nobody_holds_whoever_waits) {
    table t;
    EXPECT_TRUE(t.ask(1, probe()));
    EXPECT_TRUE(t.rows.holds.empty());
    EXPECT_EQ(t.rows.token, fencing_token{}) << "a probe takes no token";
    t.hold(2, reader());
    EXPECT_FALSE(t.ask(3, probe()));
    t.queue(4, writer());
    t.free(2);
    EXPECT_TRUE(t.ask(5, probe()));
    EXPECT_FALSE(t.ask(6, plain())) << "the writer is in front";
}

TEST(lease_table, a_waiting_barging_claim_stands_in_nobodys_way) {
    table t;
    t.hold(1, plain());
    auto barging = plain();
    barging.next = order::barging;
    t.queue(2, barging);
    t.queue(3, plain());
    const auto called = t.free(1);
    EXPECT_EQ(called, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_TRUE(t.ask(3, plain(), true)) << "whoever asks first gets it";
    EXPECT_FALSE(t.ask(2, barging, true));
}

TEST(lease_table, tokens_never_fall_below_the_floor) {
    table t;
    t.at.floor = fencing_token{1000};
    t.hold(1, plain());
    EXPECT_EQ(t.rows.holds[0].token, fencing_token{1001});
    t.free(1);
    t.at.floor = fencing_token{5};
    auto block = plain();
    block.tokens = 10;
    t.hold(2, block);
    EXPECT_EQ(t.rows.holds[0].token, fencing_token{1002});
    EXPECT_EQ(t.rows.token, fencing_token{1011});
    t.free(2);
    t.hold(3, plain());
    EXPECT_EQ(t.rows.holds[0].token, fencing_token{1012});
}

TEST(lease_table, a_hold_ends_exactly_when_its_ttl_is_over) {
    table t;
    t.hold(1, plain());
    const auto end = t.rows.holds[0].expires;
    EXPECT_EQ(end, t.at.now + t.ttl);
    t.at.now = end - duration{1};
    EXPECT_FALSE(t.ask(2, plain()));
    EXPECT_EQ(t.renew(1, duration{1}).remaining, duration{1});
    t.at.now = end;
    EXPECT_EQ(t.renew(1, t.ttl).lost, loss_reason::expired);
    EXPECT_TRUE(t.ask(3, plain()));
}

TEST(lease_table, what_is_gone_is_told_with_its_reason) {
    table t;
    EXPECT_EQ(t.renew(1, t.ttl).lost, loss_reason::removed);
    t.hold(2, reader());
    EXPECT_EQ(t.renew(1, t.ttl).lost, loss_reason::removed) << "a reader takes nothing over";
    t.free(2);
    t.hold(3, plain());
    EXPECT_EQ(t.renew(1, t.ttl).lost, loss_reason::taken_over);
}

TEST(lease_table, only_living_bound_holds_and_waiters_are_described) {
    table t;
    deaths dead{{7}};
    t.hold(1, reader(), 7);
    t.hold(2, reader());
    t.queue(3, writer(), 7);
    t.queue(4, writer());
    t.queue(5, probe());
    EXPECT_EQ(describe("x", t.rows, t.at).holders.size(), 2U);
    EXPECT_EQ(describe("x", t.rows, t.at).waiters.size(), 2U) << "a probe is not shown";
    t.at.processes = &dead;
    const auto shown = describe("x", t.rows, t.at);
    EXPECT_EQ(shown.name, "x");
    ASSERT_EQ(shown.holders.size(), 1U);
    EXPECT_EQ(shown.holders[0].claim, id_of(2));
    ASSERT_EQ(shown.waiters.size(), 1U);
    EXPECT_EQ(shown.waiters[0].claim, id_of(4));
    t.at.now += waiter_ttl;
    EXPECT_TRUE(describe("x", t.rows, t.at).waiters.empty());
}

TEST(lease_table, forgetting_a_client_frees_what_is_bound_to_it_and_nothing_else) {
    table t;
    t.hold(1, reader(), 7);
    t.hold(2, reader(), 8);
    t.hold(3, reader(), 7);
    t.rows.holds[2].bound = false;
    t.queue(4, writer(), 7);
    t.queue(5, reader(), 8);
    consequences then;
    forget_client(t.rows, client_of(7), t.at, then);
    EXPECT_EQ(t.rows.holds.size(), 2U);
    ASSERT_EQ(t.rows.waiters.size(), 1U);
    EXPECT_EQ(t.rows.waiters[0].claim, id_of(5));
    ASSERT_FALSE(then.wakes.empty()) << "the writer stood in its way";
    EXPECT_EQ(then.wakes[0].claim, id_of(5));
}

}  // namespace
}  // namespace holdfast::lease_table
