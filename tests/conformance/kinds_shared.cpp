// Readers and writers, permits.
#include "conformance/users.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

ROW(kinds, readers_hold_together_and_a_writer_alone, &capabilities::shared) {
    auto a = connect(f);
    auto b = connect(f);
    shared_mutex at_a{a, "x"};
    shared_mutex at_b{b, "x"};
    std::vector<lease> readers;
    for (int i = 0; i < 3; ++i) {
        readers.push_back(at_a.acquire_shared());
        readers.push_back(at_b.acquire_shared());
    }
    EXPECT_EQ(readers[0].how(), access::shared);
    EXPECT_EQ(at_b.try_acquire({.owner = owner_id{9}}).error().code, errc::busy);
    readers.clear();
    const lease writer = at_a.acquire();
    EXPECT_EQ(writer.how(), access::exclusive);
    EXPECT_EQ(at_b.try_acquire_shared().error().code, errc::busy);
    EXPECT_EQ(at_a.try_acquire_shared().error().code, errc::busy);
}

ROW(kinds, an_upgrade_is_refused_because_it_could_wait_for_itself, &capabilities::shared) {
    auto a = connect(f);
    auto b = connect(f);
    shared_mutex x{a, "x"};
    lease reader = x.acquire_shared();
    const auto refused = x.try_acquire({.wait = forever});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::would_deadlock);
    EXPECT_NE(refused.error().detail.find("release"), std::string::npos) << "says what to do";
    EXPECT_TRUE(reader.held());
    EXPECT_EQ(x.try_acquire({.owner = owner_id::nobody()}).error().code, errc::busy);
    EXPECT_EQ(x.try_acquire({.owner = owner_id{5}}).error().code, errc::busy);
    reader.release();
    EXPECT_TRUE(x.try_acquire());
}

ROW(kinds, a_waiting_writer_is_not_starved_by_readers, &capabilities::shared, &capabilities::fair) {
    auto a = connect(f);
    auto b = connect(f);
    auto c = connect(f);
    lease reader = shared_mutex{a, "x"}.acquire_shared();
    outcome writer;
    shared_mutex{b, "x"}.async_acquire({}, writer.handler());
    outcome late;
    shared_mutex{c, "x"}.async_acquire_shared({}, late.handler());
    f.pass(1ms);
    EXPECT_FALSE(late.arrived());
    reader.release();
    EXPECT_TRUE(f.until([&] { return writer.granted(); }));
    EXPECT_FALSE(late.arrived());
    writer.take().release();
    EXPECT_TRUE(f.until([&] { return late.granted(); }));
}

ROW(kinds, waiting_readers_of_one_client_come_in_together, &capabilities::shared) {
    auto a = connect(f);
    auto b = connect(f);
    lease writer = shared_mutex{a, "x"}.acquire();
    std::vector<outcome> readers(5);
    for (auto& one : readers) shared_mutex{b, "x"}.async_acquire_shared({}, one.handler());
    writer.release();
    for (auto& one : readers) EXPECT_TRUE(f.until([&] { return one.granted(); }));
}

ROW(kinds, a_downgrade_keeps_writers_out_and_lets_readers_in, &capabilities::shared) {
    auto a = connect(f);
    auto b = connect(f);
    shared_mutex x{a, "x"};
    lease held = x.acquire();
    outcome reader;
    shared_mutex{b, "x"}.async_acquire_shared({}, reader.handler());
    EXPECT_TRUE(x.try_downgrade(held));
    EXPECT_EQ(held.how(), access::shared);
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(f.until([&] { return reader.granted(); }));
    EXPECT_EQ((shared_mutex{b, "x"}.try_acquire({.owner = owner_id{4}}).error().code), errc::busy);
    EXPECT_TRUE(x.try_acquire_shared());
    EXPECT_TRUE(held.try_release());
}

ROW(kinds, only_an_exclusive_lease_of_the_name_is_downgraded, &capabilities::shared) {
    auto a = connect(f);
    shared_mutex x{a, "x"};
    lease reader = x.acquire_shared();
    EXPECT_EQ(x.try_downgrade(reader).error().code, errc::invalid_argument);
    lease other = shared_mutex{a, "y"}.acquire();
    EXPECT_EQ(x.try_downgrade(other).error().code, errc::invalid_argument);
    lease none;
    EXPECT_EQ(x.try_downgrade(none).error().code, errc::invalid_argument);
    lease lost = shared_mutex{a, "z"}.acquire({.renew = renewal::manual});
    f.pass(f.ttl());
    EXPECT_EQ((shared_mutex{a, "z"}.try_downgrade(lost).error().code), errc::lost);
}

ROW(kinds, a_dead_reader_does_not_keep_a_writer_waiting_for_ever, &capabilities::shared) {
    auto a = connect(f);
    auto b = connect(f);
    auto c = connect(f);
    const lease dead = shared_mutex{a, "x"}.acquire_shared({.renew = renewal::manual});
    lease alive = shared_mutex{b, "x"}.acquire_shared();
    outcome writer;
    shared_mutex{c, "x"}.async_acquire({}, writer.handler());
    f.pass(f.ttl() * 2);
    EXPECT_FALSE(writer.arrived());
    alive.release();
    EXPECT_TRUE(f.until([&] { return writer.granted(); }));
}

ROW(kinds, a_semaphore_gives_as_many_permits_as_it_has, &capabilities::semaphores) {
    auto a = connect(f);
    auto b = connect(f);
    semaphore at_a{a, "x", 3};
    semaphore at_b{b, "x", 3};
    lease two = at_a.acquire(2);
    EXPECT_EQ(two.permits(), 2U);
    EXPECT_EQ(two.how(), access::shared);
    const lease one = at_b.acquire();
    EXPECT_EQ(at_b.try_acquire().error().code, errc::busy);
    EXPECT_EQ(at_a.try_acquire().error().code, errc::busy);
    two.release();
    EXPECT_EQ(at_b.try_acquire(3).error().code, errc::busy);
    EXPECT_TRUE(at_b.try_acquire(2));
}

ROW(kinds, permits_of_one_client_are_counted_like_those_of_many, &capabilities::semaphores) {
    auto a = connect(f);
    semaphore x{a, "x", 3};
    std::vector<outcome> all(7);
    for (auto& one : all) x.async_acquire(1, {}, one.handler());
    EXPECT_TRUE(f.until([&] { return all[2].granted(); }));
    f.pass(1ms);
    EXPECT_FALSE(all[3].arrived());
    for (std::size_t i = 0; i + 3 < all.size(); ++i) {
        all[i].take().release();
        EXPECT_TRUE(f.until([&] { return all[i + 3].granted(); }));
        EXPECT_TRUE(i + 4 >= all.size() || !all[i + 4].arrived());
    }
}

ROW(kinds, a_large_claim_is_served_although_small_ones_keep_coming, &capabilities::semaphores,
    &capabilities::fair) {
    auto a = connect(f);
    auto b = connect(f);
    auto c = connect(f);
    lease one = semaphore{a, "x", 3}.acquire();
    outcome all;
    semaphore{b, "x", 3}.async_acquire(3, {}, all.handler());
    outcome small;
    semaphore{c, "x", 3}.async_acquire(1, {}, small.handler());
    f.pass(1ms);
    EXPECT_FALSE(small.arrived());
    one.release();
    EXPECT_TRUE(f.until([&] { return all.granted(); }));
    all.take().release();
    EXPECT_TRUE(f.until([&] { return small.granted(); }));
}

ROW(kinds, everybody_agrees_on_the_capacity, &capabilities::semaphores) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = semaphore{a, "x", 3}.acquire();
    EXPECT_EQ((semaphore{b, "x", 4}.try_acquire().error().code), errc::mismatch);
    EXPECT_EQ((semaphore{b, "x", 4}.try_acquire(1, {.wait = forever}).error().code), errc::mismatch)
        << "waiting does not help";
    EXPECT_EQ((mutex{b, "x"}.try_acquire().error().code), errc::mismatch);
    held.release();
    EXPECT_TRUE((semaphore{b, "x", 4}.try_acquire(4)));
}

}  // namespace
}  // namespace holdfast::tests
