// What the simulation found in the core and in the rules of the lease table, each as the smallest
// scenario that shows it. The seeds are those of the day and stand for the record only.
#include <gtest/gtest.h>

#include "simulation/scripted.hpp"
#include "stores/lease_table/lease_table.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

core::done ignore() {
    return [](const result<void>&) {};
}

// Seed 16.
TEST(regressions, a_long_manual_renewal_has_the_margin_of_its_whole_length) {
    scripted_client one;
    one.store->facts.drift_ppm = 10'000;
    const auto held = one.hold(one.request(1s));
    one.engine->renew(held, 1000s, ignore());
    one.renewed(0, 1000s);
    EXPECT_LE(held->deadline.load(), one.host->time + 990s);
}

// Seed 330: the old claim's grant was taken for the present claim's, whose id it does not have.
TEST(regressions, a_late_grant_of_an_earlier_claim_is_given_back_and_not_mixed_up) {
    scripted_client one;
    const auto end = one.acquire(one.request(3s));
    one.pass(1s);  // no answer in a third of the ttl: asked again
    one.pass(10ms);
    one.host->time += 2s;
    one.grant(0, 1, 3s);  // over: worth nothing, and asked for as another claim
    ASSERT_EQ(one.store->acquires.size(), 3U);
    const claim_id first = one.store->acquires[0].what.id;
    const claim_id second = one.store->acquires[2].what.id;
    ASSERT_NE(first, second);
    one.grant(1, 1, 3s);  // the first claim again, and in time
    EXPECT_EQ(end->times, 0U);
    for (const auto& release : one.store->releases) EXPECT_EQ(release.what.at(0).id, first);
    one.grant(2, 2, 3s);
    ASSERT_TRUE(end->held);
    EXPECT_EQ(end->held->asked->id, second);
}

// Seed 404 renewed for ever at one moment.
TEST(regressions, near_hold_max_it_is_not_renewed_by_ever_shorter_pieces) {
    scripted_client one;
    auto asked = one.request(3s);
    asked.hold_max = 5s;
    const auto held = one.hold(asked);
    for (int i = 0; i < 100 && one.store->renewals.size() < 20; ++i) {
        one.pass(50ms);
        if (one.store->renewals.empty()) continue;
        const auto& last = one.store->renewals.back();
        one.store->events->renewed(last.id,
                                   std::vector<renewal_reply>{{.remaining = last.what[0].ttl}});
    }
    EXPECT_LE(one.store->renewals.size(), 4U);
    EXPECT_EQ(held->loss.load(), loss_reason::hold_max);
}

// Found by a crash: the second answer used a lane that the first one had dropped.
TEST(regressions, two_exclusive_holds_of_one_name_may_be_given_back_at_once) {
    scripted_client one;
    const auto first = one.hold(one.request());
    one.engine->release(first, ignore());
    const auto adopted = one.adopt(one.request(), {{77, 0}}, fencing_token{2});
    one.renewed(0, 30s);
    ASSERT_TRUE(adopted->held);
    one.engine->release(adopted->held, ignore());
    const auto next = one.acquire(one.request());
    ASSERT_EQ(one.store->releases.size(), 2U);
    one.released(0);
    EXPECT_EQ(one.store->acquires.size(), 1U);  // still giving back the other one
    one.released(1);
    EXPECT_EQ(one.store->acquires.size(), 2U);
    one.grant(1, 3, 30s);
    EXPECT_TRUE(next->held);
}

// Seed 6422: a client that stood still heard of its renewal before its timers ran.
TEST(regressions, a_renewal_that_is_answered_after_the_deadline_revives_nothing) {
    scripted_client one;
    const auto held = one.hold(one.request(3s));
    one.pass(1s);
    ASSERT_EQ(one.store->renewals.size(), 1U);
    one.host->time += 3s;
    one.renewed(0, 30s);
    EXPECT_FALSE(held->valid(one.host->time));
    EXPECT_TRUE(held->lost.stop_requested());

    const auto again = one.hold(one.request(3s), 2);
    bool good = true;
    one.engine->renew(again, 30s, [&](const result<void>& how) { good = how.has_value(); });
    one.host->time += 4s;
    one.renewed(1, 30s);
    EXPECT_FALSE(good);
    EXPECT_FALSE(again->valid(one.host->time));
}

// Seed 20048: the store had it as a shared hold, and this process passed it on as an exclusive one.
TEST(regressions, a_hold_whose_downgrade_is_under_way_is_not_passed_on) {
    scripted_client one;
    auto asked = one.request();
    asked.what.what = kind::shared_mutex;
    const auto first = one.hold(asked);
    const auto second = one.acquire(asked);
    const auto third = one.acquire(asked);
    one.engine->release(first, ignore());
    one.released(0);
    one.grant(1, 2, 30s);  // with a token for the third
    ASSERT_TRUE(second->held);
    one.engine->downgrade(second->held, ignore());
    one.engine->release(second->held, ignore());
    EXPECT_FALSE(third->held);
    EXPECT_EQ(one.store->releases.size(), 2U);
}

// Seed 17602.
TEST(regressions, an_adoption_that_is_answered_after_the_ttl_is_no_hold) {
    scripted_client one;
    const auto end = one.adopt(one.request(3s), {{77, 0}}, fencing_token{2});
    one.host->time += 4s;
    one.renewed(0, 3s);
    EXPECT_FALSE(end->held);
    EXPECT_EQ(end->why.code, errc::lost);
}

// Found while reading for the one above.
TEST(regressions, an_adoption_that_is_answered_after_the_shutdown_is_given_back) {
    scripted_client one;
    const auto end = one.adopt(one.request(), {{77, 0}}, fencing_token{2});
    one.engine->close();
    one.renewed(0, 30s);
    EXPECT_EQ(end->why.code, errc::cancelled);
    EXPECT_EQ(one.store->releases.size(), 1U);
}

// Seed 13440: a request whose answer never comes was remembered for ever.
TEST(regressions, no_request_is_remembered_after_a_grant_that_came_too_late) {
    scripted_client one;
    const auto end = one.acquire(one.request(3s));
    one.pass(1s);
    one.pass(10ms);
    ASSERT_EQ(one.store->acquires.size(), 2U);
    one.host->time += 2500ms;
    one.grant(0, 1, 3s);  // over; the second request is still under way, and lost
    ASSERT_EQ(one.store->acquires.size(), 3U);
    one.released(0);
    one.grant(2, 2, 3s);
    ASSERT_TRUE(end->held);
    one.engine->release(end->held, ignore());
    one.released(1);
    one.pass(60s);
    EXPECT_EQ(one.engine->tracked(), 0U);
}

// Seed 15826.
TEST(regressions, a_probe_that_is_granted_late_ends_its_wait) {
    scripted_client one;
    auto probe = one.request(3s);
    probe.what.permits = 0;
    const auto end = one.acquire(probe);
    one.pass(1s);
    one.pass(10ms);
    ASSERT_EQ(one.store->acquires.size(), 2U);
    one.refuse(1);
    ASSERT_EQ(one.store->waits.size(), 1U);
    one.grant(0, 1, 0s);
    EXPECT_EQ(end->times, 1U);
    EXPECT_EQ(one.store->waits_ended, 1U);
    one.pass(60s);
    EXPECT_EQ(one.engine->tracked(), 0U);
}

class refusals final : public observer {
  public:
    void on_event(const event& what) override {
        if (what.what == event::type::refused) ++seen;
    }
    unsigned seen = 0;
};

// Seed 221 told refusals twice, and went as deep into the stack as there were callers.
TEST(regressions, each_of_many_callers_is_refused_once) {
    constexpr unsigned callers = 20'000;
    auto watch = std::make_shared<refusals>();
    scripted_client one{{.local_handovers_max = 15, .watch = watch}};
    const auto first = one.acquire(one.request());
    auto asked = one.request();
    asked.try_only = true;
    std::vector<std::shared_ptr<ending>> ends;
    for (unsigned i = 0; i < callers; ++i) ends.push_back(one.acquire(asked));
    one.refuse(0);
    for (const auto& end : ends) EXPECT_EQ(end->times, 1U);
    EXPECT_EQ(watch->seen, callers);
}

// Seed 47: who had waited for its turn in this process blamed the store.
TEST(regressions, who_waited_behind_others_times_out_instead_of_blaming_the_store) {
    scripted_client one;
    const auto held = one.hold(one.request());
    auto asked = one.request();
    asked.give_up = one.host->time + 10s;
    const auto end = one.acquire(asked);
    one.host->time += 9s;
    one.engine->release(held, ignore());
    one.released(0);
    ASSERT_EQ(one.store->acquires.size(), 2U);
    one.pass(1s);
    EXPECT_EQ(end->why.code, errc::timed_out);
}

// Seed 2543.
TEST(regressions, a_release_that_arrives_after_the_deadline_says_expired_and_not_removed) {
    scripted_client one;
    const auto held = one.hold(one.request(3s));
    failure why;
    one.engine->release(held, [&](const result<void>& how) { why = how.error(); });
    one.host->time += 3s;
    one.store->events->released(one.store->releases[0].id,
                                std::vector<release_reply>{release_reply::not_held});
    EXPECT_EQ(why.loss, loss_reason::expired);
}

// Found by the address sanitizer in the small worlds: a cycle of two shared pointers.
TEST(regressions, nothing_survives_a_client_that_ends_while_a_release_waits_for_a_renewal) {
    scripted_client one;
    auto held = one.hold(one.request(3s));
    one.pass(1s);
    ASSERT_EQ(one.store->renewals.size(), 1U);
    one.engine->release(held, ignore());
    const std::weak_ptr<core::hold> watched = held;
    held.reset();
    one.engine.reset();
    EXPECT_TRUE(watched.expired());
}

// Seed 298518: the store keeps a place in its queue for longer than a short ttl.
TEST(regressions, a_place_in_the_queue_is_given_back_until_the_store_has_forgotten_it) {
    scripted_client one;
    auto asked = one.request(100ms);
    asked.give_up = one.host->time + 1s;
    const auto end = one.acquire(asked);
    one.refuse(0);
    one.pass(1s);
    ASSERT_EQ(end->times, 1U);
    one.pass(12s);
    EXPECT_EQ(one.engine->unfinished(), 1U);
}

// Seed 298518: behind two that had vanished, the second one's patience never began.
TEST(regressions, every_vanished_waiter_is_passed_over_in_its_turn) {
    lease_table::lock_rows rows;
    lease_table::moment at{.now = time_point{1h}, .self = {{1, 0}}};
    lease_table::consequences then;
    const auto ask = [&](std::uint64_t id) {
        const claim asked{.name = "lock", .id = {{id, 0}}, .ttl = 1s, .waits = true};
        auto answer = lease_table::acquire(rows, asked, at, then);
        return answer && std::holds_alternative<granted>(*answer);
    };
    ASSERT_TRUE(ask(1));
    for (std::uint64_t id = 2; id <= 4; ++id) ASSERT_FALSE(ask(id));
    at.now += 1s;  // the hold is over, and 2 and 3 never come back
    EXPECT_FALSE(ask(4));
    at.now += lease_table::patience + 1ms;
    EXPECT_FALSE(ask(4));
    at.now += lease_table::patience + 1ms;
    EXPECT_TRUE(ask(4));
}

}  // namespace
}  // namespace holdfast::simulation
