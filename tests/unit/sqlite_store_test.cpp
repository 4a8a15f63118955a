// The verbs of the SQLite store, on one machine and one boot.
#include <algorithm>
#include <atomic>
#include <random>

#include "sqlite_fixture.hpp"
#include "stores/sqlite/filesystem.hpp"

namespace holdfast::sqlite_test {
namespace {

class sqlite_store : public ::testing::Test {
  protected:
    directory home_;
};

TEST_F(sqlite_store, grants_a_free_name_and_refuses_a_held_one) {
    client a{home_.file()};
    client b{home_.file()};
    const auto mine = mutex_claim("stock");
    EXPECT_EQ(must_grant(a.acquire(mine)).token, fencing_token{1});
    const auto no = must_refuse(b.acquire(mutex_claim("stock")));
    ASSERT_TRUE(no.holder);
    EXPECT_EQ(no.holder->owner, "host/1/test");
    EXPECT_EQ(no.holder->token, fencing_token{1});
    EXPECT_TRUE(a.release("stock", mine.id));
    EXPECT_FALSE(a.release("stock", mine.id));
    EXPECT_EQ(must_grant(b.acquire(mutex_claim("stock"))).token, fencing_token{2});
}

TEST_F(sqlite_store, answers_a_repeated_claim_with_the_same_grant) {
    client a{home_.file()};
    auto mine = mutex_claim("x");
    mine.tokens = 5;
    const auto first = must_grant(a.acquire(mine));
    const auto again = must_grant(a.acquire(mine));
    EXPECT_EQ(first.token, again.token);
    EXPECT_EQ(again.tokens, 5U);
    a.release("x", mine.id);
    EXPECT_EQ(must_grant(a.acquire(mutex_claim("x"))).token, fencing_token{6});
}

TEST_F(sqlite_store, keeps_tokens_over_reopening) {
    for (std::uint64_t turn = 1; turn <= 3; ++turn) {
        client a{home_.file()};
        const auto mine = mutex_claim("x");
        EXPECT_EQ(must_grant(a.acquire(mine)).token, fencing_token{turn});
        EXPECT_TRUE(a.release("x", mine.id));
    }
}

TEST_F(sqlite_store, takes_any_bytes_as_a_name) {
    client a{home_.file()};
    using namespace std::string_literals;
    const std::string names[] = {
        "a\0b"s, "a\0c"s, "a"s, "'; DROP TABLE lock; --"s, "\xff\xfe"s, " "s, std::string(255, 'n'),
        "A"s,    "%"s};
    for (const auto& name : names) {
        EXPECT_EQ(must_grant(a.acquire(mutex_claim(name))).token, fencing_token{1});
    }
    const auto all = a.it().list("a", false);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), 3U);
    EXPECT_EQ(a.it().list("", false)->size(), std::size(names));
}

TEST_F(sqlite_store, holds_shared_side_by_side_and_each_ends_by_itself) {
    client a{home_.file()};
    std::vector<claim> readers;
    for (int i = 0; i < 5; ++i) {
        auto reader = mutex_claim("x");
        reader.what = kind::shared_mutex;
        reader.how = access::shared;
        must_grant(a.acquire(reader));
        readers.push_back(reader);
    }
    auto writer = mutex_claim("x");
    writer.what = kind::shared_mutex;
    must_refuse(a.acquire(writer));
    EXPECT_EQ(a.it().show("x")->holders.size(), 5U);
    for (const auto& reader : readers) EXPECT_TRUE(a.release("x", reader.id));
    const auto token = must_grant(a.acquire(writer)).token;
    EXPECT_EQ(token, fencing_token{6});
    const auto reply = a.downgrade({.hold = {"x", writer.id}, .ttl = 60s});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->how, access::shared);
    auto late = readers.front();
    late.id = support::new_id();
    EXPECT_EQ(must_grant(a.acquire(late)).token, fencing_token{7});
}

TEST_F(sqlite_store, counts_permits) {
    client a{home_.file()};
    const auto permits = [](std::uint32_t count, std::uint32_t capacity = 3) {
        auto request = mutex_claim("seats");
        request.what = kind::semaphore;
        request.permits = count;
        request.capacity = capacity;
        return request;
    };
    const auto two = permits(2);
    must_grant(a.acquire(two));
    must_refuse(a.acquire(permits(2)));
    must_grant(a.acquire(permits(1)));
    EXPECT_EQ(a.acquire(permits(1, 4)).error().code, errc::mismatch);
    EXPECT_EQ(a.acquire(mutex_claim("seats")).error().code, errc::mismatch);
    EXPECT_TRUE(a.release("seats", two.id));
    must_grant(a.acquire(permits(2)));
}

TEST_F(sqlite_store, probes_without_holding) {
    client a{home_.file()};
    auto probe = mutex_claim("x");
    probe.permits = 0;
    EXPECT_EQ(must_grant(a.acquire(probe)).tokens, 0U);
    EXPECT_EQ(a.it().list("", true)->size(), 0U);
    must_grant(a.acquire(mutex_claim("x")));
    must_refuse(a.acquire(probe));
}

TEST_F(sqlite_store, renews_what_is_held_and_says_why_the_rest_is_lost) {
    client a{home_.file()};
    std::vector<claim> mine;
    for (const auto* name : {"1", "2", "3"}) mine.push_back(mutex_claim(name));
    auto shared = mutex_claim("4");
    shared.what = kind::shared_mutex;
    shared.how = access::shared;
    mine.push_back(shared);
    for (const auto& claim : mine) must_grant(a.acquire(claim));
    a.release("2", mine[1].id);
    a.release("3", mine[2].id);
    must_grant(a.acquire(mutex_claim("3")));
    std::vector<renewal_request> requests;
    for (const auto& claim : mine) requests.push_back({.hold = {claim.name, claim.id}, .ttl = 90s});
    const auto replies = a.renew(requests);
    ASSERT_TRUE(replies);
    EXPECT_EQ((*replies)[0].lost, loss_reason::none);
    EXPECT_EQ((*replies)[0].remaining, duration{90s});
    EXPECT_EQ((*replies)[1].lost, loss_reason::removed);
    EXPECT_EQ((*replies)[2].lost, loss_reason::taken_over);
    EXPECT_EQ((*replies)[3].lost, loss_reason::none);
    EXPECT_EQ((*replies)[3].how, access::shared);
    EXPECT_EQ((*replies)[3].what, kind::shared_mutex);
}

TEST_F(sqlite_store, never_shortens_a_hold) {
    client a{home_.file()};
    const auto mine = mutex_claim("x", false, 60s);
    must_grant(a.acquire(mine));
    EXPECT_GT(a.renew({.hold = {"x", mine.id}, .ttl = 1s}).remaining, duration{50s});
}

TEST_F(sqlite_store, ends_a_hold_by_time_and_does_not_revive_it) {
    client a{home_.file()};
    client b{home_.file()};
    const auto mine = mutex_claim("x", false, 10ms);
    must_grant(a.acquire(mine));
    const auto other = mutex_claim("x");
    const auto until = std::chrono::steady_clock::now() + deadline;
    result<acquire_reply> answer = b.acquire(other);
    while (std::holds_alternative<refused>(*answer) && std::chrono::steady_clock::now() < until) {
        answer = b.acquire(other);
    }
    EXPECT_EQ(must_grant(answer).token, fencing_token{2});
    EXPECT_EQ(a.renew({.hold = {"x", mine.id}, .ttl = 60s}).lost, loss_reason::taken_over);
    EXPECT_FALSE(a.release("x", mine.id));
    EXPECT_EQ(a.it().show("x")->holders.at(0).claim, other.id);
}

TEST_F(sqlite_store, wakes_the_waiter_of_another_client_at_release) {
    client a{home_.file()};
    client b{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(b.acquire(queued));
    const auto call = b.wait("x", queued.id, no.cursor);
    EXPECT_FALSE(b.woken(call, 0ms));
    ASSERT_EQ(a.it().show("x")->waiters.size(), 1U);
    // The one that is called is next; whoever comes later may not pass.
    EXPECT_TRUE(a.release("x", mine.id));
    must_refuse(a.acquire(mutex_claim("x")));
    EXPECT_TRUE(b.woken(call));
    EXPECT_EQ(must_grant(b.acquire(queued)).token, fencing_token{2});
    EXPECT_TRUE(a.it().show("x")->waiters.empty());
}

TEST_F(sqlite_store, wakes_its_own_waiters) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(a.acquire(queued));
    const auto call = a.wait("x", queued.id, no.cursor);
    EXPECT_TRUE(a.release("x", mine.id));
    EXPECT_TRUE(a.woken(call));
}

TEST_F(sqlite_store, does_not_lose_a_wakeup_between_refusal_and_wait) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(a.acquire(queued));
    EXPECT_TRUE(a.release("x", mine.id));
    EXPECT_TRUE(a.woken(a.wait("x", queued.id, no.cursor)));
}

TEST_F(sqlite_store, wakes_everybody_after_more_wakeups_than_a_fifo_holds) {
    client a{home_.file()};
    client b{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(b.acquire(queued));
    // b does not read yet: its loop is not run. Strangers' names fill its FIFO to the brim.
    sqlite::bell_directory ringer{home_.file() + "-clients", support::new_id(), 0600};
    client_id b_client{};
    for (const auto& entry : std::filesystem::directory_iterator{home_.file() + "-clients"}) {
        const auto name = entry.path().filename().string();
        if (name.size() != 32) continue;
        const client_id id{{std::stoull(name.substr(0, 16), nullptr, 16),
                            std::stoull(name.substr(16), nullptr, 16)}};
        sqlite::database raw{home_.file(), {}};
        auto ask = raw.once("SELECT count(*) FROM waiter WHERE client = ?1");
        ask.bind(1, id).step();
        if (ask.number(0) == 1) b_client = id;
    }
    sqlite::database raw{home_.file(), {}};
    ASSERT_TRUE(ringer.enter(sqlite::bells(raw)));
    for (int i = 0; i < 10'000; ++i) ringer.ring(b_client, support::new_id());
    EXPECT_TRUE(a.release("x", mine.id));
    EXPECT_TRUE(b.woken(b.wait("x", queued.id, no.cursor)));
}

TEST_F(sqlite_store, serves_waiters_in_order_and_withdraws_them) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    auto leaver = std::make_unique<client>(home_.file());
    client second{home_.file()};
    auto first_claim = mutex_claim("x", true);
    auto second_claim = mutex_claim("x", true);
    must_refuse(leaver->acquire(first_claim));
    const auto no = must_refuse(second.acquire(second_claim));
    const auto call = second.wait("x", second_claim.id, no.cursor);
    EXPECT_EQ(a.it().show("x")->waiters.size(), 2U);
    leaver.reset();
    EXPECT_TRUE(second.woken(call)) << "it watched the one that left";
    EXPECT_EQ(a.it().show("x")->waiters.size(), 1U);
}

TEST_F(sqlite_store, frees_bound_holds_with_their_client_and_keeps_detached_ones) {
    auto a = std::make_unique<client>(home_.file());
    client b{home_.file()};
    const auto bound = mutex_claim("bound");
    const auto detached = mutex_claim("detached");
    must_grant(a->acquire(bound));
    must_grant(a->acquire(detached));
    EXPECT_EQ(
        a->renew({.hold = {"detached", detached.id}, .ttl = 60s, .bind = binding::detach}).lost,
        loss_reason::none);
    a.reset();
    EXPECT_EQ(must_grant(b.acquire(mutex_claim("bound"))).token, fencing_token{2});
    must_refuse(b.acquire(mutex_claim("detached")));
    // The token is checked, and from now on the hold is b's.
    EXPECT_EQ(b.renew({.hold = {"detached", detached.id},
                       .ttl = 60s,
                       .bind = binding::attach,
                       .token = fencing_token{7}})
                  .lost,
              loss_reason::taken_over);
    EXPECT_EQ(b.renew({.hold = {"detached", detached.id},
                       .ttl = 60s,
                       .bind = binding::attach,
                       .token = fencing_token{1}})
                  .lost,
              loss_reason::none);
    EXPECT_TRUE(b.it().show("detached")->holders.at(0).bound);
}

TEST_F(sqlite_store, evicts_only_the_token_that_was_seen_and_keeps_a_line) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    EXPECT_EQ(a.it().evict("x", fencing_token{9}, "ops").error().code, errc::not_held);
    const auto gone = a.it().evict("x", fencing_token{1}, "ops");
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->claim, mine.id);
    EXPECT_EQ(a.renew({.hold = {"x", mine.id}, .ttl = 60s}).lost, loss_reason::removed);
    EXPECT_EQ(must_grant(a.acquire(mutex_claim("x"))).token, fencing_token{3});
    sqlite::database raw{home_.file(), {}};
    EXPECT_EQ(
        raw.text(
            "SELECT who || ' ' || CAST(name AS TEXT) || ' ' || token || ' ' || owner FROM audit"),
        "ops x 1 host/1/test");
}

TEST_F(sqlite_store, prunes_idle_names_without_letting_tokens_fall) {
    client a{home_.file()};
    std::uint64_t greatest = 0;
    for (int i = 0; i < 50; ++i) {
        for (int turn = 0; turn <= i % 7; ++turn) {
            const auto mine = mutex_claim("name" + std::to_string(i));
            greatest = std::max(greatest, must_grant(a.acquire(mine)).token.value());
            a.release(mine.name, mine.id);
        }
    }
    const auto held = mutex_claim("held");
    must_grant(a.acquire(held));
    a.it().prune(24h);
    EXPECT_EQ(a.it().list("", true)->size(), 51U);
    a.it().prune(0s);
    EXPECT_EQ(a.it().list("", true)->size(), 1U);
    EXPECT_EQ(must_grant(a.acquire(mutex_claim("name3"))).token.value(), greatest + 1);
    EXPECT_EQ(a.it().show("held")->token, fencing_token{1});
}

TEST_F(sqlite_store, knows_no_name_by_the_row_that_it_once_had) {
    client a{home_.file()};
    client b{home_.file()};
    const auto first = mutex_claim("first");
    must_grant(a.acquire(first));
    EXPECT_TRUE(a.release("first", first.id));
    b.it().prune(0s);
    const auto second = mutex_claim("second");
    must_grant(b.acquire(second));
    sqlite::database raw{home_.file(), {}};
    EXPECT_EQ(raw.text("SELECT id || ' ' || CAST(name AS TEXT) FROM lock"), "1 second");

    EXPECT_FALSE(a.release("first", first.id));
    EXPECT_EQ(a.renew({.hold = {"first", first.id}, .ttl = 60s}).lost, loss_reason::removed);
    const auto again = mutex_claim("first");
    must_grant(a.acquire(again));
    EXPECT_EQ(b.it().show("second")->holders.size(), 1U);
    EXPECT_TRUE(b.release("second", second.id));
    EXPECT_TRUE(a.release("first", again.id));
}

TEST_F(sqlite_store, begins_the_next_epoch_before_tokens_reach_into_it) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    a.release("x", mine.id);
    sqlite::database raw{home_.file(), {}};
    raw.execute("UPDATE lock SET token = (1 << 40) - 3");
    auto block = mutex_claim("x");
    block.tokens = 5;
    const auto yes = must_grant(a.acquire(block));
    EXPECT_GE(yes.token.value(), std::uint64_t{1} << 40U);
    EXPECT_EQ(raw.number("SELECT epoch FROM meta"), 1);
    EXPECT_EQ(a.it().show("x")->token.value(), yes.token.value() + 4);
}

// The statements of their own for the usual cases must do what the rules say.
TEST_F(sqlite_store, does_in_one_statement_what_the_rules_say) {
    client a{home_.file()};
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random{seed};
    const auto upto = [&](unsigned most) {
        return static_cast<std::uint32_t>(random() % (most + 1));
    };
    lease_table::lock_rows model;
    std::vector<claim> made;
    for (int step = 0; step < 3000; ++step) {
        lease_table::consequences then;
        const lease_table::moment at{.now = boot_clock::now()};
        const bool repeat = !made.empty() && upto(3) == 0;
        auto request = repeat ? made[random() % made.size()] : mutex_claim("x");
        if (!repeat) {
            request.what = static_cast<kind>(upto(2));
            request.how = request.what == kind::shared_mutex ? static_cast<access>(upto(1))
                                                             : access::exclusive;
            request.capacity = request.what == kind::semaphore ? 3 : 1;
            request.permits = request.what == kind::semaphore ? 1 + upto(2) : 1;
            request.tokens = 1 + upto(3);
            made.push_back(request);
        }
        switch (upto(4)) {
            case 0:
            case 1: {
                const auto want = lease_table::acquire(model, request, at, then);
                const auto got = a.acquire(request);
                ASSERT_EQ(want.has_value(), got.has_value());
                if (!want) break;
                ASSERT_EQ(want->index(), got->index());
                if (const auto* yes = std::get_if<granted>(&*want)) {
                    ASSERT_EQ(yes->token, must_grant(got).token);
                    ASSERT_EQ(yes->tokens, must_grant(got).tokens);
                }
                break;
            }
            case 2: {
                const auto want =
                    lease_table::renew(model, {.hold = {"x", request.id}, .ttl = 60s}, at, then);
                const auto got = a.renew({.hold = {"x", request.id}, .ttl = 60s});
                ASSERT_EQ(want.lost, got.lost);
                if (want.lost != loss_reason::none) break;
                ASSERT_EQ(want.how, got.how);
                ASSERT_EQ(want.what, got.what);
                ASSERT_EQ(want.permits, got.permits);
                break;
            }
            default: {
                const auto want = lease_table::release(model, request.id, at, then);
                ASSERT_EQ(want == release_reply::released, a.release("x", request.id));
            }
        }
        const auto shown = a.it().show("x");
        ASSERT_TRUE(shown);
        ASSERT_EQ(shown->token, model.token);
        ASSERT_EQ(shown->holders.size(), model.holds.size());
        for (std::size_t i = 0; i < model.holds.size(); ++i) {
            ASSERT_EQ(shown->holders[i].claim, model.holds[i].claim);
            ASSERT_EQ(shown->holders[i].token, model.holds[i].token);
        }
    }
}

TEST_F(sqlite_store, serves_many_threads_of_two_clients) {
    client a{home_.file()};
    client b{home_.file()};
    std::atomic<int> inside{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            auto& mine = i % 2 == 0 ? a : b;
            for (int turn = 0; turn < 25; ++turn) {
                const auto request = mutex_claim("x", true);
                auto answer = mine.acquire(request);
                while (answer && std::holds_alternative<refused>(*answer)) {
                    mine.woken(mine.wait("x", request.id, std::get<refused>(*answer).cursor), 5s);
                    answer = mine.acquire(request);
                }
                if (!answer || ++inside != 1) ++wrong;
                --inside;
                if (!mine.release("x", request.id)) ++wrong;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(a.it().show("x")->token, fencing_token{200});
}

TEST_F(sqlite_store, says_nothing_after_stop) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(a.acquire(queued));
    const auto call = a.wait("x", queued.id, no.cursor);
    a.it().stop();
    EXPECT_EQ(a.acquire(mutex_claim("y")).error().code, errc::cancelled) << "the fixture's own";
    EXPECT_FALSE(a.woken(call, 0ms));
    client b{home_.file()};
    EXPECT_TRUE(b.it().show("x")->waiters.empty());
}

}  // namespace
}  // namespace holdfast::sqlite_test
