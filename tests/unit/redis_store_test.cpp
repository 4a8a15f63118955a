// The Redis store on a real server that the test kills, stops and restarts.
#include <gmock/gmock.h>

#include <holdfast/holdfast.hpp>

#include "stores/redis/keys.hpp"
#include "support/redis_server.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

errc code_of(const result<lease>& got) {
    return got ? errc{} : got.error().code;
}

TEST(redis_keys, are_those_of_redisson) {
    EXPECT_EQ(redis::mutex_channel("a"), "redisson_lock__channel:{a}");
    EXPECT_EQ(redis::mutex_channel("{u}a"), "redisson_lock__channel:{u}a");
    EXPECT_EQ(redis::token_key("a}b"), "redisson_lock_token:{a}b}");
    EXPECT_EQ(redis::shared_channel("x{"), "redisson_rwlock:x{");
    const unique_id id{{0x0123456789abcdefU, 0xfedcba9876543210U}};
    EXPECT_EQ(redis::field_of(id), "01234567-89ab-cdef-fedc-ba9876543210:1");
    EXPECT_EQ(redis::claim_of(redis::field_of(id)), id);
    EXPECT_EQ(redis::claim_of("01234567-89ab-cdef-fedc-ba9876543210:42"), claim_id{});
    EXPECT_EQ(redis::claim_of(""), claim_id{});
}

class redis_store : public testing::Test {
  protected:
    client connect(const std::string& more = {}) { return client::open(server_.url() + more); }
    redis_server server_;
};

TEST_F(redis_store, writes_a_mutex_as_redisson_does) {
    auto user = connect();
    const lease held = mutex{user, "stock"}.acquire({.ttl = 20s});
    EXPECT_EQ(server_.ask({"TYPE", "stock"}), "hash");
    EXPECT_EQ(server_.ask({"HVALS", "stock"}), "1");
    EXPECT_THAT(server_.ask({"HKEYS", "stock"}),
                testing::MatchesRegex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:1"));
    const auto pttl = std::stol(server_.ask({"PTTL", "stock"}));
    EXPECT_GT(pttl, 15'000);
    EXPECT_LE(pttl, 20'000);
    EXPECT_EQ(server_.ask({"GET", "redisson_lock_token:{stock}"}),
              std::to_string(held.token().value()));
}

TEST_F(redis_store, writes_a_shared_mutex_as_redisson_does) {
    auto user = connect();
    lease reader = shared_mutex{user, "doc"}.acquire_shared({.ttl = 20s});
    EXPECT_EQ(server_.ask({"HGET", "doc", "mode"}), "read");
    const auto field = server_.ask({"EVAL",
                                    "for _, f in ipairs(redis.call('hkeys', KEYS[1])) do if f ~= "
                                    "'mode' then return f end end",
                                    "1", "doc"});
    EXPECT_EQ(server_.ask({"GET", "{doc}:" + field + ":rwlock_timeout:1"}), "1");
    reader.release();
    EXPECT_EQ(server_.ask({"EXISTS", "doc"}), "0");
    EXPECT_EQ(server_.ask({"EXISTS", "{doc}:" + field + ":rwlock_timeout:1"}), "0");
    const lease writer = shared_mutex{user, "doc"}.acquire({.ttl = 20s});
    EXPECT_EQ(server_.ask({"HGET", "doc", "mode"}), "write");
    EXPECT_THAT(server_.ask({"HKEYS", "doc"}), HasSubstr(":1:write"));
}

TEST_F(redis_store, writes_a_semaphore_as_redisson_does) {
    auto user = connect();
    lease two = semaphore{user, "seats", 5}.acquire(2, {.ttl = 20s});
    EXPECT_EQ(server_.ask({"GET", "seats"}), "3");
    EXPECT_EQ(server_.ask({"ZCARD", "{seats}:timeout"}), "2");
    two.release();
    EXPECT_EQ(server_.ask({"GET", "seats"}), "5");
    EXPECT_EQ(server_.ask({"EXISTS", "{seats}:timeout"}), "0");
}

TEST_F(redis_store, waits_for_a_hold_that_another_library_made) {
    auto user = connect();
    server_.ask({"HSET", "x", "b2d7-peer:17", "1"});
    server_.ask({"PEXPIRE", "x", "60000"});
    const auto refused = mutex(user, "x").try_acquire();
    ASSERT_EQ(code_of(refused), errc::busy);
    EXPECT_EQ(refused.error().holder->owner, "b2d7-peer:17");
    EXPECT_EQ(user.show("x").value().holders.at(0).owner, "b2d7-peer:17");
    std::jthread peer{[&] {
        eventually([&] {
            return server_.ask({"PUBSUB", "NUMSUB", "redisson_lock__channel:{x}"}) ==
                   "redisson_lock__channel:{x}\n1";
        });
        server_.ask({"DEL", "x"});
        server_.ask({"PUBLISH", "redisson_lock__channel:{x}", "0"});
    }};
    EXPECT_TRUE(mutex(user, "x").try_acquire({.wait = 3s})) << "asked again without being told";
}

TEST_F(redis_store, is_refused_by_a_key_that_is_no_lock) {
    auto user = connect();
    server_.ask({"SET", "x", "42"});
    server_.ask({"RPUSH", "y", "42"});
    EXPECT_EQ(code_of(mutex(user, "x").try_acquire()), errc::mismatch);
    EXPECT_EQ(code_of(mutex(user, "y").try_acquire()), errc::mismatch);
    EXPECT_EQ(server_.ask({"GET", "x"}), "42");
}

TEST_F(redis_store, gives_greater_tokens_also_when_all_data_is_lost) {
    auto user = connect();
    const auto before = mutex(user, "x").acquire().token();
    server_.ask({"FLUSHALL"});
    EXPECT_GT(mutex(user, "x").acquire().token(), before);
}

TEST_F(redis_store, sends_its_scripts_again_to_a_server_that_forgot_them) {
    auto user = connect();
    lease held = mutex(user, "x").acquire();
    server_.ask({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(held.try_release());
    server_.ask({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(mutex(user, "x").try_acquire());
}

TEST_F(redis_store, goes_on_after_a_restart_that_kept_the_data) {
    auto user = connect();
    const lease held = mutex(user, "x").acquire({.ttl = 30s});
    server_.kill();
    server_.start();
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(eventually([&] { return mutex(user, "y").try_acquire().has_value(); }, 5s));
    EXPECT_EQ(code_of(mutex(user, "x").try_acquire()), errc::busy);
}

TEST_F(redis_store, asks_again_after_its_subscription_was_cut) {
    auto a = connect();
    auto b = connect();
    lease held = mutex{a, "x"}.acquire();
    std::jthread releaser{[&] {
        eventually([&] {
            return server_.ask({"PUBSUB", "CHANNELS"}) == "redisson_lock__channel:{x}";
        });
        server_.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
        held.release();
    }};
    EXPECT_TRUE(mutex(b, "x").try_acquire({.wait = 4s})) << "slept until it would poll";
}

TEST_F(redis_store, loses_its_hold_by_its_own_clock_while_the_server_stands_still) {
    auto user = connect();
    const lease held = mutex(user, "x").acquire({.ttl = 500ms});
    server_.pause();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }, 5s));
    server_.resume();
}

TEST_F(redis_store, answers_in_time_while_the_server_stands_still) {
    auto user = connect();
    EXPECT_TRUE(mutex(user, "x").try_acquire({.ttl = 500ms}));
    server_.pause();
    const auto start = boot_clock::now();
    const auto got = mutex(user, "y").try_acquire({.wait = 300ms, .ttl = 500ms});
    EXPECT_FALSE(got);
    EXPECT_LT(boot_clock::now() - start, 3s);
    server_.resume();
}

TEST(redis_unreachable, says_so_at_once_and_has_nothing_to_clean_up) {
    std::string url;
    {
        const redis_server gone;
        url = gone.tcp_url();
    }
    const auto start = boot_clock::now();
    auto user = client::open(url);
    const auto got = mutex(user, "x").try_acquire();
    ASSERT_EQ(code_of(got), errc::unavailable);
    EXPECT_THAT(got.error().detail, HasSubstr("Connection refused"));
    EXPECT_EQ(user.shutdown(), 0U);
    EXPECT_LT(boot_clock::now() - start, 1s);
}

TEST(redis_rights, credentials_are_needed_and_never_told) {
    const redis_server server;
    server.ask({"CONFIG", "SET", "requirepass", "open sesame"});
    const std::string host = "127.0.0.1:" + std::to_string(server.port());
    auto none = client::open("redis://" + host);
    EXPECT_EQ(code_of(mutex(none, "x").try_acquire()), errc::access_denied);
    auto wrong = client::open("redis://:sesame@" + host);
    const auto got = mutex(wrong, "x").try_acquire();
    ASSERT_EQ(code_of(got), errc::access_denied);
    EXPECT_EQ(got.error().detail.find("sesame"), std::string::npos);
    auto right = client::open("redis://:open%20sesame@" + host + "/3");
    EXPECT_TRUE(mutex(right, "x").try_acquire());
    ::setenv("HOLDFAST_TEST_PASSWORD", "open sesame", 1);
    auto by_name = client::open("redis://" + host + "?password-env=HOLDFAST_TEST_PASSWORD");
    EXPECT_TRUE(mutex(by_name, "x").try_acquire());
}

TEST(redis_url, is_checked_before_any_traffic) {
    const auto refused = [](const std::string& url) {
        const auto got = client::try_open(url);
        return got ? std::string("accepted") : got.error().detail;
    };
    EXPECT_THAT(refused("redis://a,b"), HasSubstr("one host"));
    EXPECT_THAT(refused("redis:"), HasSubstr("one host"));
    EXPECT_THAT(refused("redis://a/x"), HasSubstr("number"));
    EXPECT_THAT(refused("redis://a?colour=red"), HasSubstr("known are"));
    EXPECT_THAT(refused("redis+unix://host/path"), HasSubstr("no host"));
    EXPECT_THAT(refused("redis://a?password-env=HOLDFAST_NOT_SET"), HasSubstr("not set"));
    EXPECT_THAT(refused("redis://a?password-file=/nonexistent"), HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace holdfast::tests
