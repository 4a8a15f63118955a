// The same locks in the hands of real Redisson, on a real server.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "interop/peer.hpp"
#include "support/redis_server.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

class redisson : public testing::TestWithParam<const char*> {
  protected:
    peer start_peer() const {
        const std::string folder = std::string(HOLDFAST_REDISSON_PEERS) + "/" + GetParam();
        return peer{{"java", "-cp", folder + "/*:" + folder + "/lib/*", "-XX:TieredStopAtLevel=1",
                     "holdfast.Peer", server_.tcp_url()}};
    }
    client connect() const { return client::open(server_.tcp_url()); }

    /// As the peer's "count".
    void count(const std::string& key) const {
        const auto now = server_.ask({"GET", key});
        server_.ask({"SET", key, std::to_string(now.empty() ? 1 : std::stoi(now) + 1)});
    }

    /// What the counter says after both sides have counted so often.
    template <class Kind>
    int counted_together(const std::string& theirs, const Kind& ours, int times) const {
        auto there = start_peer();
        there.begin("count " + theirs + " counter " + std::to_string(times));
        for (int i = 0; i < times; ++i) {
            const lease held = ours.acquire({.wait = 20s});
            count("counter");
        }
        EXPECT_EQ(there.answer(120s), "counted");
        return std::stoi(server_.ask({"GET", "counter"}));
    }

    redis_server server_{{.keeps_data = false, .more = {}}};
};

constexpr int each = 5000;

TEST_P(redisson, counts_together_under_a_mutex_without_losing_any) {
    EXPECT_EQ(counted_together("mutex x", mutex{connect(), "x"}, each), 2 * each);
    EXPECT_EQ(server_.ask({"EXISTS", "x"}), "0");
}

TEST_P(redisson, counts_together_under_a_write_lock_without_losing_any) {
    EXPECT_EQ(counted_together("write x", shared_mutex{connect(), "x"}, each), 2 * each);
    EXPECT_EQ(server_.ask({"EXISTS", "x"}), "0");
}

// The proof that the two tests above can fail.
TEST_P(redisson, loses_counts_where_the_two_lock_different_names) {
    constexpr int few = 1000;
    EXPECT_LT(counted_together("mutex theirs", mutex{connect(), "ours"}, few), 2 * few);
}

TEST_P(redisson, wakes_our_waiters) {
    auto there = start_peer();
    auto user = connect();
    for (const std::string kind : {"mutex", "write", "read"}) {
        const auto wait = [&] {
            EXPECT_EQ(there.ask("lock " + kind + " x 1000"), "true");
            const auto start = boot_clock::now();
            std::jthread releaser{[&] {
                eventually([&] { return server_.ask({"PUBSUB", "CHANNELS"}) != ""; });
                EXPECT_EQ(there.ask("unlock " + kind + " x"), "unlocked");
            }};
            const lease held = kind == "mutex" ? mutex(user, "x").acquire({.wait = 4s})
                                               : shared_mutex(user, "x").acquire({.wait = 4s});
            EXPECT_LT(boot_clock::now() - start, 3s) << kind << ": slept until it would poll";
        };
        for (int i = 0; i < 5; ++i) wait();
    }
}

TEST_P(redisson, is_woken_by_us) {
    auto there = start_peer();
    auto user = connect();
    for (const std::string kind : {"mutex", "write", "read"}) {
        lease held =
            kind == "mutex" ? mutex(user, "x").acquire() : shared_mutex(user, "x").acquire();
        there.begin("lock " + kind + " x 15000");
        EXPECT_TRUE(eventually([&] { return server_.ask({"PUBSUB", "CHANNELS"}) != ""; }));
        const auto released = boot_clock::now();
        held.release();
        EXPECT_EQ(there.answer(), "true") << kind;
        EXPECT_LT(boot_clock::now() - released, 1s) << kind << ": slept for the ttl";
        EXPECT_EQ(there.ask("unlock " + kind + " x"), "unlocked");
    }
}

TEST_P(redisson, excludes_and_is_excluded) {
    auto there = start_peer();
    auto user = connect();
    {
        const lease held = mutex(user, "x").acquire();
        EXPECT_EQ(there.ask("lock mutex x 0"), "false");
        EXPECT_EQ(there.ask("locked mutex x"), "true");
        EXPECT_EQ(there.ask("unlock mutex x"), "not held");
    }
    EXPECT_EQ(there.ask("lock mutex x 0"), "true");
    EXPECT_EQ((mutex{user, "x"}.try_acquire().error().code), errc::busy);
    EXPECT_EQ(user.show("x").value().holders.size(), 1U);
    EXPECT_EQ(there.ask("unlock mutex x"), "unlocked");
    EXPECT_TRUE((mutex{user, "x"}.try_acquire().has_value()));
}

TEST_P(redisson, reads_beside_us_and_writes_alone) {
    auto there = start_peer();
    const shared_mutex here{connect(), "x"};
    lease ours = here.acquire_shared();
    EXPECT_EQ(there.ask("lock read x 0"), "true");
    EXPECT_EQ(there.ask("lock write y 0"), "true") << "another name";
    ours.release();
    EXPECT_EQ(here.try_acquire().error().code, errc::busy) << "the peer still reads";
    EXPECT_EQ(there.ask("unlock read x"), "unlocked");
    lease writer = here.acquire({.wait = 1s});
    EXPECT_EQ(there.ask("lock read x 0"), "false");
    here.downgrade(writer);
    EXPECT_EQ(there.ask("lock read x 0"), "true");
    EXPECT_EQ(there.ask("lock write x 0"), "false");
    EXPECT_EQ(there.ask("unlock read x"), "unlocked");
    writer.release();
    EXPECT_EQ(there.ask("lock write x 0"), "true");
    EXPECT_EQ(here.try_acquire_shared().error().code, errc::busy);
    EXPECT_EQ(there.ask("unlock write x"), "unlocked");
}

TEST_P(redisson, shares_permits_with_us) {
    auto there = start_peer();
    const semaphore here{connect(), "seats", 3};
    EXPECT_EQ(there.ask("permits seats 3"), "true");
    lease two = here.acquire(2, {.wait = 1s});
    EXPECT_EQ(there.ask("available seats"), "1");
    EXPECT_EQ(there.ask("take seats 0 60000"), "true");
    EXPECT_EQ(there.ask("take seats 0 60000"), "false");
    EXPECT_EQ(here.try_acquire().error().code, errc::busy);
    EXPECT_EQ(there.ask("give seats"), "given");
    lease third = here.acquire(1, {.wait = 1s});
    third.release();
    two.release();
    EXPECT_EQ(there.ask("available seats"), "3");
    EXPECT_EQ(there.ask("take seats 0 300"), "true");
    const auto start = boot_clock::now();
    EXPECT_TRUE(here.try_acquire(3, {.wait = 5s})) << "the peer's permit ends by itself";
    EXPECT_LT(boot_clock::now() - start, 3s);
}

TEST_P(redisson, leaves_a_lock_that_ends_by_itself_when_it_is_killed) {
    auto there = start_peer();
    EXPECT_EQ(there.ask("lock mutex x 0"), "true");
    there.kill();
    server_.ask({"PEXPIRE", "x", "300"});  // its watchdog would have kept it for 30 s
    EXPECT_TRUE((mutex{connect(), "x"}.try_acquire({.wait = 5s}).has_value()));
}

INSTANTIATE_TEST_SUITE_P(versions, redisson, testing::Values(HOLDFAST_REDISSON_VERSIONS),
                         [](const auto& version) {
                             std::string name = version.param;
                             std::ranges::replace(name, '.', '_');
                             return name;
                         });

}  // namespace
}  // namespace holdfast::tests
