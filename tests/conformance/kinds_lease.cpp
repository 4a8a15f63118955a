// What becomes of a lease: renewal, loss, orphans and tickets.
#include <atomic>

#include "conformance/users.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

ROW(kinds, a_lease_is_renewed_until_it_is_released) {
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire();
    const auto first = held.expires_at();
    f.pass(f.ttl() * 3);
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(f.really_held("x"));
    EXPECT_GT(held.expires_at(), first);
    EXPECT_FALSE(held.at_risk().stop_requested());
    EXPECT_TRUE(held.try_release());
}

ROW(kinds, a_fixed_lease_ends_by_itself_and_says_so_before) {
    auto user = connect(f);
    const lease held = mutex{user, "x"}.acquire({.renew = renewal::manual});
    std::atomic<bool> told{false};
    const std::stop_callback on_loss{held.lost(), [&] { told = true; }};
    f.pass(f.ttl() / 2);
    EXPECT_TRUE(held.held());
    EXPECT_FALSE(held.at_risk().stop_requested());
    EXPECT_TRUE(f.until([&] { return held.at_risk().stop_requested(); }, f.ttl() / 2));
    EXPECT_TRUE(f.until([&] { return held.lost().stop_requested(); }, f.ttl()));
    EXPECT_TRUE(f.until([&] { return told.load(); }, f.ttl()));
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.loss(), loss_reason::expired);
    f.pass(f.ttl() / 10);
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, a_fixed_lease_is_prolonged_by_its_holder) {
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire({.renew = renewal::manual});
    for (int i = 0; i < 4; ++i) {
        f.pass(f.ttl() / 2);
        ASSERT_TRUE(held.try_renew());
    }
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(held.try_renew(f.ttl() * 4));
    const auto far = held.expires_at();
    EXPECT_TRUE(held.try_renew(f.ttl()));
    EXPECT_GE(held.expires_at(), far) << "renewal never shortens";
    f.pass(f.ttl() * 2);
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(f.really_held("x"));
}

ROW(kinds, a_lost_lease_is_not_revived) {
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire({.renew = renewal::manual});
    f.pass(f.ttl());
    const auto late = held.try_renew();
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, errc::lost);
    EXPECT_EQ(late.error().loss, loss_reason::expired);
    EXPECT_EQ(held.try_export_ticket().error().code, errc::lost);
    EXPECT_EQ(held.try_orphan().error().code, errc::lost);
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, a_late_release_does_not_touch_the_next_holder) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire({.renew = renewal::manual});
    f.pass(f.ttl());
    const lease next = mutex{b, "x"}.acquire();
    const auto released = held.try_release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().code, errc::lost);
    f.pass(1ms);
    EXPECT_TRUE(f.really_held("x"));
    f.pass(f.ttl());
    EXPECT_TRUE(next.held());
}

ROW(kinds, nobody_holds_longer_than_hold_max) {
    auto user = connect(f);
    const lease held = mutex{user, "x"}.acquire({.hold_max = f.ttl() * 2});
    f.pass(f.ttl() * 3 / 2);
    EXPECT_TRUE(held.held()) << "it is renewed until then";
    f.pass(f.ttl());
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_EQ(held.loss(), loss_reason::hold_max);
    EXPECT_TRUE(f.until([&] { return !f.really_held("x"); }, f.ttl()));
}

ROW(kinds, an_evicted_holder_learns_it_at_its_next_renewal, &capabilities::evict) {
    auto a = connect(f);
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    const auto ended = b.evict("x", held.token(), "the operator");
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->token, held.token());
    EXPECT_TRUE(f.until([&] { return held.lost().stop_requested(); }, f.ttl()));
    EXPECT_EQ(held.loss(), loss_reason::removed);
    EXPECT_TRUE((mutex{b, "x"}.try_acquire()));
}

ROW(kinds, a_holder_whose_lock_was_taken_learns_that, &capabilities::evict) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    ASSERT_TRUE(b.evict("x", held.token(), "the operator"));
    const lease next = mutex{b, "x"}.acquire();
    EXPECT_TRUE(f.until([&] { return held.lost().stop_requested(); }, f.ttl()));
    EXPECT_EQ(held.loss(), loss_reason::taken_over);
    EXPECT_EQ(held.try_release().error().code, errc::lost);
    EXPECT_TRUE(next.held());
    EXPECT_TRUE(f.really_held("x"));
}

ROW(kinds, a_release_of_what_was_removed_says_lost, &capabilities::evict) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    ASSERT_TRUE(b.evict("x", held.token(), "the operator"));
    const auto released = held.try_release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().code, errc::lost);
    EXPECT_EQ(released.error().loss, loss_reason::removed);
}

ROW(kinds, a_holder_that_is_cut_off_is_told_before_anybody_else_can_hold) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    if (!f.cut(a)) return;  // the file of an embedded store cannot be taken away
    EXPECT_TRUE(f.until([&] { return held.at_risk().stop_requested(); }, f.ttl()));
    EXPECT_TRUE(held.held()) << "at risk comes before lost";
    EXPECT_TRUE(f.until([&] { return held.lost().stop_requested(); }, f.ttl()));
    EXPECT_EQ(held.loss(), loss_reason::unreachable);
    EXPECT_FALSE((mutex{b, "x"}.try_acquire())) << "it was told too late";
    const lease next = mutex{b, "x"}.acquire();
    f.heal(a);
    EXPECT_EQ(held.try_release().error().code, errc::lost);
    f.pass(1s);
    EXPECT_TRUE(next.held());
    EXPECT_TRUE(f.really_held("x"));
}

ROW(kinds, a_short_outage_costs_nobody_a_lease) {
    auto a = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    if (!f.cut(a)) return;
    f.pass(f.ttl() * 2 / 3);
    f.heal(a);
    f.pass(f.ttl() * 3);
    EXPECT_TRUE(held.held());
}

ROW(kinds, a_release_without_a_store_is_retried_until_it_is_certain) {
    auto a = connect(f);
    lease held = mutex{a, "x"}.acquire();
    if (!f.cut(a)) return;
    const auto released = held.try_release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().code, errc::outcome_unknown);
    EXPECT_TRUE(f.really_held("x"));
    f.heal(a);
    EXPECT_TRUE(f.until([&] { return !f.really_held("x"); }, 2s));
}

ROW(kinds, an_orphan_stays_until_its_ttl_is_over) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    EXPECT_TRUE(held.try_orphan());
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.try_release().error().code, errc::not_held);
    a.shutdown();
    EXPECT_TRUE(f.really_held("x"));
    EXPECT_FALSE((mutex{b, "x"}.try_acquire()));
    f.pass(f.ttl());
    EXPECT_FALSE(f.really_held("x")) << "nobody renews an orphan";
    EXPECT_TRUE((mutex{b, "x"}.try_acquire()));
}

ROW(kinds, a_ticket_carries_the_hold_to_another_client) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    const auto token = held.token();
    const auto written = held.try_export_ticket();
    ASSERT_TRUE(written);
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.try_release().error().code, errc::not_held);
    EXPECT_EQ(written->text.find_first_of(" \t\n"), std::string::npos) << "one word";
    lease taken = b.adopt(*written);
    EXPECT_EQ(taken.token(), token);
    EXPECT_EQ(taken.name(), "x");
    a.shutdown();
    f.pass(f.ttl() * 2);
    EXPECT_TRUE(taken.held()) << "the new holder renews it";
    EXPECT_TRUE(taken.try_release());
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, a_ticket_is_good_for_one) {
    auto a = connect(f);
    auto b = connect(f);
    auto c = connect(f);
    const auto written = mutex{a, "x"}.acquire().export_ticket();
    const lease taken = b.adopt(written);
    const auto again = c.try_adopt(written);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, errc::lost);
    EXPECT_EQ(b.try_adopt(written).error().code, errc::lost) << "also not the same client twice";
    f.pass(f.ttl());
    EXPECT_TRUE(taken.held());
}

ROW(kinds, a_ticket_is_no_good_once_its_hold_is_over) {
    auto a = connect(f);
    auto b = connect(f);
    const auto written = mutex{a, "x"}.acquire().export_ticket();
    f.pass(f.ttl());
    const auto late = b.try_adopt(written);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, errc::lost);
    const lease next = mutex{b, "x"}.acquire();
    EXPECT_EQ(a.try_adopt(written).error().loss, loss_reason::taken_over);
    EXPECT_TRUE(next.held());
}

ROW(kinds, a_ticket_with_another_token_is_refused, &capabilities::fencing) {
    auto a = connect(f);
    auto b = connect(f);
    auto written = mutex{a, "x"}.acquire().export_ticket();
    auto forged = written;
    forged.text += "1";
    EXPECT_EQ(b.try_adopt(forged).error().code, errc::lost);
    EXPECT_TRUE(b.try_adopt(written));
}

ROW(kinds, what_is_no_ticket_is_refused) {
    auto user = connect(f);
    for (const auto* text : {"", "hf1", "hf1.78", "hf2.78.0.1", "hello world", "hf1.78..1"}) {
        EXPECT_EQ(user.try_adopt({text}).error().code, errc::invalid_argument) << text;
    }
}

ROW(kinds, a_shared_hold_and_permits_travel_in_a_ticket, &capabilities::shared,
    &capabilities::semaphores) {
    auto a = connect(f);
    auto b = connect(f);
    const lease other = shared_mutex{a, "x"}.acquire_shared();
    const lease reader = b.adopt(shared_mutex{a, "x"}.acquire_shared().export_ticket());
    EXPECT_EQ(reader.how(), access::shared);
    const lease two = b.adopt(semaphore{a, "s", 3}.acquire(2).export_ticket());
    EXPECT_EQ(two.permits(), 2U);
    EXPECT_TRUE((semaphore{b, "s", 3}.try_acquire()));
    EXPECT_FALSE((semaphore{b, "s", 3}.try_acquire(2)));
}

ROW(kinds, many_leases_are_renewed_in_few_requests) {
    const auto watch = std::make_shared<recorder>();
    auto user = connect(f, {.watch = watch});
    std::vector<lease> held;
    for (int i = 0; i < 200; ++i) held.push_back(mutex{user, std::to_string(i)}.acquire());
    f.pass(f.ttl() * 2);
    for (const auto& one : held) ASSERT_TRUE(one.held());
    EXPECT_GE(watch->count(event::type::renewed), held.size() * 3);
    EXPECT_EQ(watch->count(event::type::lost), 0U);
}

}  // namespace
}  // namespace holdfast::tests
