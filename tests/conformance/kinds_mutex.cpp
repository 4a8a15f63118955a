// Acquiring, holding and releasing, as a user of mutex sees it.
#include <thread>

#include "conformance/users.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

ROW(kinds, a_lease_is_the_hold) {
    auto user = connect(f);
    mutex stock{user, "stock"};
    EXPECT_FALSE(f.really_held("stock")) << "a kind holds nothing";
    {
        const lease held = stock.acquire();
        EXPECT_TRUE(held.held());
        EXPECT_TRUE(held);
        EXPECT_EQ(held.name(), "stock");
        EXPECT_GT(held.token(), fencing_token{});
        EXPECT_EQ(held.how(), access::exclusive);
        EXPECT_EQ(held.permits(), 1U);
        EXPECT_EQ(held.hold_count(), 1U);
        EXPECT_EQ(held.loss(), loss_reason::none);
        EXPECT_FALSE(held.lost().stop_requested());
        EXPECT_FALSE(held.at_risk().stop_requested());
        EXPECT_TRUE(f.really_held("stock"));
    }
    EXPECT_FALSE(f.really_held("stock"));
}

ROW(kinds, a_lease_keeps_its_client_alive) {
    std::optional<lease> held;
    {
        auto user = connect(f);
        held = mutex{user, "x"}.acquire();
    }
    f.pass(f.ttl() * 2);
    EXPECT_TRUE(held->held());
    EXPECT_TRUE(f.really_held("x"));
    EXPECT_TRUE(held->try_release());
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, busy_tells_who_holds_it) {
    auto a = connect(f, {.label = "worker-7"});
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    const auto tried = mutex{b, "x"}.try_acquire();
    ASSERT_FALSE(tried);
    EXPECT_EQ(tried.error().code, errc::busy);
    EXPECT_EQ(tried.error().lock, "x");
    ASSERT_TRUE(tried.error().holder);
    EXPECT_NE(tried.error().holder->owner.find("worker-7"), std::string::npos);
    EXPECT_NE(tried.error().message().find("worker-7"), std::string::npos);
}

ROW(kinds, a_client_is_busy_to_itself_as_well) {
    auto user = connect(f);
    mutex x{user, "x"};
    const lease held = x.acquire();
    EXPECT_EQ(x.try_acquire().error().code, errc::busy);
    EXPECT_TRUE(held.held());
}

ROW(kinds, copies_of_a_kind_are_the_same_lock) {
    auto user = connect(f);
    const mutex one{user, "x"};
    const mutex two = one;  // NOLINT(performance-unnecessary-copy-initialization): it is the point
    const lease held = one.acquire();
    EXPECT_FALSE(two.try_acquire());
    EXPECT_EQ(two.name(), "x");
}

ROW(kinds, tokens_rise_from_holder_to_holder, &capabilities::fencing) {
    auto a = connect(f);
    auto b = connect(f);
    fencing_token newest;
    for (int i = 0; i < 10; ++i) {
        lease held = mutex{i % 3 == 0 ? a : b, "x"}.acquire();
        EXPECT_GT(held.token(), newest);
        newest = held.token();
        held.release();
    }
}

ROW(kinds, a_second_release_says_not_held) {
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire();
    EXPECT_TRUE(held.try_release());
    EXPECT_FALSE(held.held());
    EXPECT_EQ(held.loss(), loss_reason::none) << "an ordinary release is no loss";
    EXPECT_EQ(held.try_release().error().code, errc::not_held);
    EXPECT_EQ(failure_of([&] { return held.release(), 0; })->code, errc::not_held);
}

ROW(kinds, a_lease_that_was_moved_from_holds_nothing) {
    auto user = connect(f);
    lease first = mutex{user, "x"}.acquire();
    const auto token = first.token();
    lease second = std::move(first);
    // NOLINTBEGIN(bugprone-use-after-move): what it answers then is promised
    EXPECT_FALSE(first.held());
    EXPECT_EQ(first.token(), fencing_token{});
    EXPECT_EQ(first.try_release().error().code, errc::not_held);
    EXPECT_EQ(first.try_renew().error().code, errc::not_held);
    EXPECT_EQ(first.try_orphan().error().code, errc::not_held);
    EXPECT_EQ(first.try_export_ticket().error().code, errc::not_held);
    EXPECT_FALSE(first.lost().stop_requested());
    EXPECT_EQ(first.name(), "");
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_TRUE(second.held());
    EXPECT_EQ(second.token(), token);
    EXPECT_TRUE(f.really_held("x"));
}

ROW(kinds, assigning_to_a_lease_releases_what_it_held) {
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire();
    held = mutex{user, "y"}.acquire();
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_TRUE(f.really_held("y"));
    auto& same = held;
    held = std::move(same);
    EXPECT_TRUE(held.held()) << "assigning to itself changes nothing";
    held = lease{};
    EXPECT_FALSE(f.really_held("y"));
}

ROW(kinds, any_thread_may_release) {
    f.with_threads();
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire();
    std::thread{[&] { EXPECT_TRUE(held.try_release()); }}.join();
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_TRUE((mutex{user, "x"}.try_acquire()));
}

ROW(kinds, a_reentrant_mutex_counts_for_its_owner) {
    auto a = connect(f);
    auto b = connect(f);
    reentrant_mutex x{a, "x"};
    lease first = x.acquire();
    lease second = x.acquire();
    EXPECT_EQ(second.token(), first.token());
    EXPECT_EQ(first.hold_count(), 2U);
    EXPECT_EQ(x.hold_count(), 2U);
    EXPECT_TRUE(x.held_by());
    EXPECT_FALSE(x.held_by(owner_id{7}));
    EXPECT_FALSE((mutex{b, "x"}.try_acquire())) << "in the store it is the same lock as a mutex";
    first.release();
    EXPECT_TRUE(f.really_held("x"));
    EXPECT_TRUE(second.held());
    second.release();
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_EQ(x.hold_count(), 0U);
}

ROW(kinds, another_owner_does_not_enter_a_reentrant_mutex) {
    auto user = connect(f);
    reentrant_mutex x{user, "x"};
    const lease held = x.acquire({.owner = owner_id{1}});
    EXPECT_TRUE(x.try_acquire({.owner = owner_id{1}}));
    EXPECT_EQ(x.try_acquire({.owner = owner_id{2}}).error().code, errc::busy);
    EXPECT_EQ(x.hold_count(owner_id{1}), 1U);
    EXPECT_EQ(x.hold_count(owner_id{2}), 0U);
    EXPECT_EQ(x.hold_count(), 0U) << "the thread is not the owner";
}

ROW(kinds, a_nested_acquisition_fails_once_the_hold_was_lost) {
    auto user = connect(f);
    reentrant_mutex x{user, "x"};
    lease held = x.acquire({.renew = renewal::manual});
    f.pass(f.ttl());
    const auto nested = x.try_acquire();
    ASSERT_FALSE(nested);
    EXPECT_EQ(nested.error().code, errc::lost);
    EXPECT_EQ(nested.error().loss, loss_reason::expired);
    EXPECT_FALSE(x.held_by());
    EXPECT_EQ(held.try_release().error().code, errc::lost);
    EXPECT_TRUE(x.try_acquire()) << "all its leases are gone, so it starts anew";
}

ROW(kinds, a_mutex_is_not_reentrant) {
    auto user = connect(f);
    mutex x{user, "x"};
    const lease held = x.acquire();
    EXPECT_EQ(x.try_acquire({.wait = 20ms}).error().code, errc::timed_out);
}

}  // namespace
}  // namespace holdfast::tests
