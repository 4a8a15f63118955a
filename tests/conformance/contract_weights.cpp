// The admission rule: readers and writers, permits, downgrade, mixed kinds.
#include <memory>

#include "conformance/rows.hpp"
#include "support/party.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

ROW(contract, readers_share_and_keep_a_writer_out, &capabilities::shared) {
    party a{f};
    party b{f};
    const auto one = a.want_shared("x");
    const auto two = b.want_shared("x");
    const auto first = a.take(one);
    const auto second = b.take(two);
    ASSERT_TRUE(first && second);
    EXPECT_GT(second->token, first->token);
    auto writer = b.want("x");
    writer.what = kind::shared_mutex;
    EXPECT_TRUE(b.refusal(writer));
    a.release(one);
    EXPECT_TRUE(b.refusal(writer));
    b.release(two);
    EXPECT_TRUE(b.take(writer));
    EXPECT_TRUE(a.refusal(a.want_shared("x")));
}

ROW(contract, every_reader_has_its_own_expiry, &capabilities::shared) {
    party a{f};
    party b{f};
    const auto dies = a.want_shared("x");
    const auto lives = b.want_shared("x");
    ASSERT_TRUE(a.take(dies) && b.take(lives));
    f.pass(f.ttl() * 2 / 3);
    EXPECT_EQ(b.renew(lives, f.ttl()).lost, loss_reason::none);
    f.pass(f.ttl() / 2);
    EXPECT_NE(a.renew(dies, f.ttl()).lost, loss_reason::none);
    EXPECT_EQ(b.renew(lives, f.ttl()).lost, loss_reason::none);
    b.release(lives);
    EXPECT_TRUE(a.take(a.want("x")));
}

ROW(contract, a_waiting_writer_goes_before_later_readers, &capabilities::shared,
    &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto reader = a.want_shared("x");
    ASSERT_TRUE(a.take(reader));
    auto writer = party::waiting(b.want("x"));
    writer.what = kind::shared_mutex;
    ASSERT_TRUE(b.refusal(writer));
    auto late = party::waiting(c.want_shared("x"));
    EXPECT_TRUE(c.refusal(late)) << "the writer would starve";
    a.release(reader);
    ASSERT_TRUE(b.take(writer));
    b.release(writer);
    EXPECT_TRUE(c.take(late));
}

ROW(contract, a_barging_reader_goes_past_a_waiting_writer, &capabilities::shared,
    &capabilities::fair) {
    party a{f};
    party b{f};
    ASSERT_TRUE(a.take(a.want_shared("x")));
    auto writer = party::waiting(b.want("x"));
    writer.what = kind::shared_mutex;
    ASSERT_TRUE(b.refusal(writer));
    auto barging = a.want_shared("x");
    barging.next = order::barging;
    EXPECT_TRUE(a.take(barging));
}

ROW(contract, waiting_readers_are_called_together, &capabilities::shared, &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    auto writer = a.want("x");
    writer.what = kind::shared_mutex;
    ASSERT_TRUE(a.take(writer));
    const auto one = party::waiting(b.want_shared("x"));
    const auto two = party::waiting(c.want_shared("x"));
    const auto first = b.refusal(one);
    const auto second = c.refusal(two);
    ASSERT_TRUE(first && second);
    const auto wait_one = b.wait(one, first->cursor);
    const auto wait_two = c.wait(two, second->cursor);
    a.release(writer);
    EXPECT_TRUE(b.woken(wait_one));
    EXPECT_TRUE(c.woken(wait_two));
    EXPECT_TRUE(c.take(two));
    EXPECT_TRUE(b.take(one));
}

ROW(contract, a_downgrade_lets_readers_in_but_no_writer, &capabilities::shared) {
    party a{f};
    party b{f};
    auto writer = a.want("x");
    writer.what = kind::shared_mutex;
    const auto got = a.take(writer);
    ASSERT_TRUE(got);
    const auto reader = party::waiting(b.want_shared("x"));
    const auto no = b.refusal(reader);
    ASSERT_TRUE(no);
    const auto wait = b.wait(reader, no->cursor);
    const auto reply = a.downgrade(writer);
    EXPECT_EQ(reply.lost, loss_reason::none);
    EXPECT_EQ(reply.how, access::shared);
    EXPECT_EQ(reply.remaining, f.ttl());
    EXPECT_TRUE(b.woken(wait));
    EXPECT_TRUE(b.take(reader));
    auto other = b.want("x");
    other.what = kind::shared_mutex;
    EXPECT_TRUE(b.refusal(other));
    EXPECT_EQ(a.release(writer), release_reply::released);
}

ROW(contract, a_downgrade_of_a_lost_hold_says_so, &capabilities::shared) {
    party a{f};
    party b{f};
    auto writer = a.want("x");
    writer.what = kind::shared_mutex;
    ASSERT_TRUE(a.take(writer));
    f.pass(f.ttl());
    auto other = b.want("x");
    other.what = kind::shared_mutex;
    ASSERT_TRUE(b.take(other));
    EXPECT_EQ(a.downgrade(writer).lost, loss_reason::taken_over);
    EXPECT_TRUE(a.refusal(a.want_shared("x"))) << "the other one's hold was downgraded";
}

ROW(contract, mutex_and_shared_mutex_of_one_name_exclude_each_other, &capabilities::shared) {
    party a{f};
    party b{f};
    const auto plain = a.want("x");
    ASSERT_TRUE(a.take(plain));
    EXPECT_TRUE(b.refusal(b.want_shared("x")));
    a.release(plain);
    const auto reader = b.want_shared("x");
    ASSERT_TRUE(b.take(reader));
    EXPECT_TRUE(a.refusal(a.want("x")));
}

ROW(contract, permits_are_counted, &capabilities::semaphores) {
    party a{f};
    party b{f};
    const auto two = a.want_permits("x", 2, 3);
    const auto one = b.want_permits("x", 1, 3);
    ASSERT_TRUE(a.take(two));
    EXPECT_TRUE(b.refusal(b.want_permits("x", 2, 3)));
    ASSERT_TRUE(b.take(one));
    EXPECT_TRUE(b.refusal(b.want_permits("x", 1, 3)));
    a.release(two);
    EXPECT_TRUE(b.refusal(b.want_permits("x", 3, 3)));
    EXPECT_TRUE(b.take(b.want_permits("x", 2, 3)));
}

ROW(contract, the_permits_of_an_expired_hold_come_back, &capabilities::semaphores) {
    party a{f};
    party b{f};
    const auto dies = a.want_permits("x", 2, 3);
    const auto lives = b.want_permits("x", 1, 3);
    ASSERT_TRUE(a.take(dies) && b.take(lives));
    f.pass(f.ttl() * 2 / 3);
    b.renew(lives, f.ttl());
    f.pass(f.ttl() / 2);
    EXPECT_TRUE(a.refusal(a.want_permits("x", 3, 3)));
    EXPECT_TRUE(a.take(a.want_permits("x", 2, 3)));
}

ROW(contract, a_large_claim_is_not_overtaken_by_later_small_ones, &capabilities::semaphores,
    &capabilities::fair) {
    party a{f};
    party b{f};
    party c{f};
    const auto held = a.want_permits("x", 2, 3);
    ASSERT_TRUE(a.take(held));
    const auto large = party::waiting(b.want_permits("x", 3, 3));
    ASSERT_TRUE(b.refusal(large));
    const auto small = c.want_permits("x", 1, 3);
    EXPECT_TRUE(c.refusal(small)) << "there is a permit, but not for this one";
    auto barging = c.want_permits("x", 1, 3);
    barging.next = order::barging;
    EXPECT_TRUE(c.take(barging));
    c.release(barging);
    a.release(held);
    EXPECT_TRUE(b.take(large));
}

ROW(contract, another_capacity_is_refused_while_the_semaphore_is_in_use,
    &capabilities::semaphores) {
    party a{f};
    const auto held = a.want_permits("x", 1, 3);
    ASSERT_TRUE(a.take(held));
    const auto wrong = a.acquire(a.want_permits("x", 1, 4));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, errc::mismatch);
    EXPECT_NE(wrong.error().detail.find('3'), std::string::npos) << wrong.error().detail;
    a.release(held);
    EXPECT_TRUE(a.take(a.want_permits("x", 4, 4)));
}

ROW(contract, a_semaphore_and_a_mutex_of_one_name_do_not_mix, &capabilities::semaphores) {
    party a{f};
    const auto held = a.want("x");
    ASSERT_TRUE(a.take(held));
    const auto wrong = a.acquire(a.want_permits("x", 1, 3));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, errc::mismatch);
    a.release(held);
    ASSERT_TRUE(a.take(a.want_permits("x", 1, 3)));
    const auto back = a.acquire(a.want("x"));
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, errc::mismatch);
}

ROW(contract, a_mismatch_ends_with_the_holds_that_cause_it, &capabilities::semaphores) {
    party a{f};
    ASSERT_TRUE(a.take(a.want_permits("x", 1, 3)));
    f.pass(f.ttl());
    const auto as_mutex = a.acquire(a.want("x"));
    if (a.target().caps().kinds_last) {
        ASSERT_FALSE(as_mutex);
        EXPECT_EQ(as_mutex.error().code, errc::mismatch);
    } else {
        EXPECT_TRUE(as_mutex);
    }
}

}  // namespace
}  // namespace holdfast::tests
