// Rule 6, and the queue: who is woken, who is next, and what a claim that ended leaves behind.
#include <memory>

#include "conformance/rows.hpp"
#include "support/party.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

// A holder, and the refusal of somebody who waits for it.
struct held_and_waited_for {
    explicit held_and_waited_for(fixture& f) : holder(f), waiter(f) {
        EXPECT_TRUE(holder.take(held));
        refusal = waiter.refusal(waits).value();
    }
    party holder;
    party waiter;
    claim held = holder.want("x");
    claim waits = party::waiting(waiter.want("x"));
    refused refusal;
};

ROW(contract, a_waiter_is_woken_by_a_release) {
    held_and_waited_for s{f};
    const auto wait = s.waiter.wait(s.waits, s.refusal.cursor);
    s.holder.release(s.held);
    EXPECT_TRUE(s.waiter.woken(wait));
    EXPECT_TRUE(s.waiter.take(s.waits));
}

ROW(contract, a_wait_ends_at_once_if_something_changed_since_the_refusal) {
    held_and_waited_for s{f};
    s.holder.release(s.held);
    EXPECT_TRUE(s.waiter.woken(s.waiter.wait(s.waits, s.refusal.cursor)));
}

ROW(contract, a_waiter_is_woken_by_an_eviction, &capabilities::evict) {
    held_and_waited_for s{f};
    const auto wait = s.waiter.wait(s.waits, s.refusal.cursor);
    ASSERT_TRUE(s.refusal.holder);
    ASSERT_TRUE(s.waiter.inspect().evict("x", s.refusal.holder->token, "me"));
    EXPECT_TRUE(s.waiter.woken(wait));
}

ROW(contract, a_waiter_is_woken_when_the_client_of_a_bound_hold_leaves,
    &capabilities::process_bound) {
    held_and_waited_for s{f};
    const auto wait = s.waiter.wait(s.waits, s.refusal.cursor);
    s.holder.leave();
    EXPECT_TRUE(s.waiter.woken(wait));
    EXPECT_TRUE(s.waiter.take(s.waits));
}

ROW(contract, a_refusal_tells_when_the_holder_expires) {
    held_and_waited_for s{f};
    f.pass(f.ttl() / 2);
    const auto again = s.waiter.refusal(s.waits);
    ASSERT_TRUE(again);
    EXPECT_LE(again->retry_after, std::min(f.ttl() / 2, s.waiter.target().caps().poll_max));
}

ROW(contract, a_wait_for_one_name_is_not_ended_by_another) {
    held_and_waited_for s{f};
    const auto other = s.holder.want("y");
    ASSERT_TRUE(s.holder.take(other));
    const auto wait = s.waiter.wait(s.waits, s.refusal.cursor);
    s.holder.release(other);
    s.waiter.end_wait(wait);
    // What was ended stays silent, whatever happens now.
    s.holder.release(s.held);
    EXPECT_TRUE(s.waiter.take(s.waits));
}

ROW(contract, waiters_are_served_in_the_order_of_their_arrival, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    const auto first = party::waiting(b.want("x"));
    const auto second = party::waiting(c.want("x"));
    ASSERT_TRUE(b.refusal(first));
    ASSERT_TRUE(c.refusal(second));
    a.release(held);
    EXPECT_TRUE(c.refusal(second)) << "it is the other one's turn";
    EXPECT_TRUE(b.take(first));
    EXPECT_TRUE(c.refusal(second));
    b.release(first);
    EXPECT_TRUE(c.take(second));
}

ROW(contract, a_claim_that_asks_again_keeps_its_place, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    const auto first = party::waiting(b.want("x"));
    const auto second = party::waiting(c.want("x"));
    ASSERT_TRUE(b.refusal(first));
    ASSERT_TRUE(c.refusal(second));
    ASSERT_TRUE(b.refusal(first));
    a.release(held);
    EXPECT_TRUE(c.refusal(second));
    EXPECT_TRUE(b.take(first));
}

ROW(contract, a_claim_that_does_not_wait_goes_behind_those_that_do, &capabilities::fair) {
    held_and_waited_for s{f};
    s.holder.release(s.held);
    EXPECT_TRUE(s.holder.refusal(s.holder.want("x"))) << "somebody waits for it";
    EXPECT_TRUE(s.waiter.take(s.waits));
}

ROW(contract, a_claim_that_does_not_wait_leaves_nothing_behind) {
    party a{f};
    party b{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    const auto tried = b.want("x");
    EXPECT_TRUE(b.refusal(tried));
    EXPECT_EQ(b.release(tried), release_reply::not_held);
    a.release(held);
    EXPECT_TRUE(a.take(a.want("x")));
}

ROW(contract, a_barging_claim_does_not_wait_its_turn, &capabilities::fair) {
    held_and_waited_for s{f};
    s.holder.release(s.held);
    auto barging = s.holder.want("x");
    barging.next = order::barging;
    EXPECT_TRUE(s.holder.take(barging));
    EXPECT_TRUE(s.waiter.refusal(s.waits));
    s.holder.release(barging);
    EXPECT_TRUE(s.waiter.take(s.waits));
}

ROW(contract, a_withdrawn_claim_is_out_of_the_queue, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    const auto first = party::waiting(b.want("x"));
    const auto second = party::waiting(c.want("x"));
    ASSERT_TRUE(b.refusal(first));
    ASSERT_TRUE(c.refusal(second));
    EXPECT_EQ(b.release(first), release_reply::released);
    EXPECT_EQ(b.release(first), release_reply::not_held);
    a.release(held);
    EXPECT_TRUE(c.take(second));
}

ROW(contract, who_waits_behind_a_withdrawn_claim_is_woken_in_its_place, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    const auto first = party::waiting(b.want("x"));
    const auto second = party::waiting(c.want("x"));
    ASSERT_TRUE(b.refusal(first));
    const auto refusal = c.refusal(second);
    ASSERT_TRUE(refusal);
    a.release(held);  // it is the first one's turn, but it goes away
    b.release(first);
    EXPECT_TRUE(c.woken(c.wait(second, refusal->cursor)));
    EXPECT_TRUE(c.take(second));
}

ROW(contract, the_claims_of_a_client_that_leaves_are_withdrawn, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    ASSERT_TRUE(b.refusal(party::waiting(b.want("x"))));
    const auto second = party::waiting(c.want("x"));
    ASSERT_TRUE(c.refusal(second));
    b.leave();
    a.release(held);
    EXPECT_TRUE(c.take(second));
}

ROW(contract, who_was_called_and_does_not_come_is_passed_over_after_a_while, &capabilities::fair) {
    party a{f};
    party b{f};
    const auto first = party::waiting(b.want("x"));
    auto held = a.want("x");
    held.ttl = 20s;
    ASSERT_TRUE(a.take(held));
    ASSERT_TRUE(b.refusal(first));
    a.release(held);
    const auto next = a.want("x");
    const auto no = a.refusal(next);
    ASSERT_TRUE(no);
    EXPECT_LE(no->retry_after, 1s);
    f.pass(no->retry_after + 50ms);
    EXPECT_TRUE(a.take(next));
    // It has not lost its place by that.
    EXPECT_TRUE(b.refusal(first));
    a.release(next);
    EXPECT_TRUE(a.refusal(a.want("x")));
    EXPECT_TRUE(b.take(first));
}

ROW(contract, a_probe_is_granted_when_nobody_holds_and_holds_nothing) {
    party a{f};
    party b{f};
    auto probe = b.want("x");
    probe.permits = 0;
    EXPECT_TRUE(b.take(probe));
    EXPECT_FALSE(f.really_held("x"));
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    auto waiting = party::waiting(b.want("x"));
    waiting.permits = 0;
    const auto no = b.refusal(waiting);
    ASSERT_TRUE(no);
    const auto wait = b.wait(waiting, no->cursor);
    a.release(held);
    EXPECT_TRUE(b.woken(wait));
    EXPECT_TRUE(b.take(waiting));
}

ROW(contract, a_waiting_probe_stands_in_nobodys_way, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    auto probe = party::waiting(b.want("x"));
    probe.permits = 0;
    ASSERT_TRUE(b.refusal(probe));
    const auto behind = party::waiting(c.want("x"));
    ASSERT_TRUE(c.refusal(behind));
    a.release(held);
    EXPECT_TRUE(c.take(behind));
    EXPECT_TRUE(b.refusal(probe));
}

}  // namespace
}  // namespace holdfast::tests
