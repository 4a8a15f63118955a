// Many threads, several names, and the standard's lock types.
#include <filesystem>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <unordered_set>

#include "conformance/users.hpp"
#include "support/wait.hpp"
#include "support/wrapped_store.hpp"

namespace holdfast::tests {

std::size_t thread_count() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& task :
         std::filesystem::directory_iterator("/proc/self/task")) {
        ++count;
    }
    return count;
}

namespace {

using namespace std::chrono_literals;

void in_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
}

// A counter without any protection of its own; what it counts is lost if two are in there.
class fragile_counter {
  public:
    void add() {
        const int before = value_.load(std::memory_order_relaxed);
        std::this_thread::yield();
        value_.store(before + 1, std::memory_order_relaxed);
    }
    int value() const { return value_; }

  private:
    std::atomic<int> value_{0};
};

ROW(kinds, a_thousand_threads_lose_no_update) {
    f.with_threads();
    auto user = f.connect();
    fragile_counter counter;
    std::atomic<std::uint64_t> newest = 0;
    in_threads(1000, [&](std::size_t) {
        const lease held = mutex{user, "x"}.acquire();
        const auto before = newest.exchange(held.token().value());
        EXPECT_LT(before, held.token().value());
        counter.add();
    });
    EXPECT_EQ(counter.value(), 1000);
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, the_threads_of_several_clients_lose_no_update) {
    f.with_threads();
    std::vector<client> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(f.connect());
    fragile_counter counter;
    in_threads(16, [&](std::size_t i) {
        const mutex x{clients[i % clients.size()], "x"};
        for (int round = 0; round < 20; ++round) {
            const lease held = x.acquire();
            counter.add();
        }
    });
    EXPECT_EQ(counter.value(), 16 * 20);
}

ROW(kinds, never_more_permits_than_the_capacity_are_out, &capabilities::semaphores) {
    f.with_threads();
    auto a = f.connect();
    auto b = f.connect();
    std::atomic<int> out = 0;
    std::atomic<int> most = 0;
    in_threads(12, [&](std::size_t i) {
        const semaphore x{i % 2 == 0 ? a : b, "x", 5};
        for (int round = 0; round < 10; ++round) {
            const auto permits =
                static_cast<std::uint32_t>(1 + (i + static_cast<unsigned>(round)) % 5);
            const lease held = x.acquire(permits);
            const int now = out += static_cast<int>(permits);
            int seen = most;
            while (now > seen && !most.compare_exchange_weak(seen, now)) {
            }
            std::this_thread::yield();
            out -= static_cast<int>(permits);
        }
    });
    EXPECT_LE(most, 5);
    EXPECT_EQ(out, 0);
}

ROW(kinds, readers_never_see_a_writer_at_work, &capabilities::shared) {
    f.with_threads();
    auto a = f.connect();
    auto b = f.connect();
    std::atomic<int> readers = 0;
    std::atomic<int> writers = 0;
    in_threads(12, [&](std::size_t i) {
        const shared_mutex x{i % 2 == 0 ? a : b, "x"};
        for (int round = 0; round < 10; ++round) {
            if ((i + static_cast<unsigned>(round)) % 4 == 0) {
                const lease held = x.acquire();
                EXPECT_EQ(++writers, 1);
                EXPECT_EQ(readers, 0);
                std::this_thread::yield();
                --writers;
            } else {
                const lease held = x.acquire_shared();
                ++readers;
                EXPECT_EQ(writers, 0);
                std::this_thread::yield();
                --readers;
            }
        }
    });
}

// Notes what is released, and counts renewals of it that come later.
class watchful_store final : public wrapped_store {
  public:
    watchful_store(std::unique_ptr<store> inner, std::shared_ptr<traffic> seen,
                   std::shared_ptr<std::atomic<int>> too_late)
        : wrapped_store(std::move(inner), std::move(seen)), too_late_(std::move(too_late)) {}
    void renew(call_id call, std::span<const renewal_request> requests) override {
        {
            const std::lock_guard guard{mutex_};
            for (const auto& one : requests) *too_late_ += released_.contains(one.hold.id) ? 1 : 0;
        }
        wrapped_store::renew(call, requests);
    }
    void release(call_id call, std::span<const hold_ref> holds) override {
        {
            const std::lock_guard guard{mutex_};
            for (const auto& one : holds) released_.insert(one.id);
        }
        wrapped_store::release(call, holds);
    }

  private:
    std::mutex mutex_;
    std::unordered_set<claim_id> released_;
    const std::shared_ptr<std::atomic<int>> too_late_;
};

ROW(kinds, no_renewal_reaches_the_store_after_the_release) {
    const auto seen = std::make_shared<traffic>();
    const auto too_late = std::make_shared<std::atomic<int>>(0);
    // A renewal that is not answered for a third of this is given up, and may come late.
    auto user =
        client::on(std::make_unique<watchful_store>(f.make(), seen, too_late), {.ttl = 300ms});
    in_threads(32, [&](std::size_t i) {
        std::minstd_rand random{static_cast<unsigned>(i + 1)};
        const mutex x{user, "x" + std::to_string(i)};
        for (int round = 0; round < 6; ++round) {
            const auto held = x.try_acquire({.wait = 5s});
            // Around the time of the first renewal.
            event_flag never;
            EXPECT_FALSE(never.wait(std::chrono::microseconds{94'000 + random() % 8'000}));
        }
    });
    EXPECT_GT(seen->renewed_holds, 0U);
    EXPECT_EQ(*too_late, 0);
}

ROW(kinds, a_multi_lock_takes_all_in_the_order_of_their_names) {
    auto user = connect(f);
    const multi_lock all{user, {"c", "a", "b", "a"}};
    EXPECT_EQ(all.names(), (std::vector<std::string>{"a", "b", "c"}));
    multi_lease held = all.acquire();
    EXPECT_EQ(held.leases().size(), 3U);
    EXPECT_EQ(held.leases()[0].name(), "a");
    EXPECT_EQ(held["b"].name(), "b");
    EXPECT_THROW(static_cast<void>(held["d"]), lock_error);
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(f.really_held("a") && f.really_held("b") && f.really_held("c"));
    EXPECT_TRUE(held.try_release());
    EXPECT_FALSE(held.held());
    EXPECT_FALSE(f.really_held("a") || f.really_held("b") || f.really_held("c"));
    EXPECT_EQ(held.try_release().error().code, errc::not_held);
}

ROW(kinds, a_multi_lock_gives_all_or_none) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{b, "b"}.acquire();
    const multi_lock all{a, {"a", "b", "c"}};
    EXPECT_EQ(all.try_acquire().error().code, errc::busy);
    EXPECT_EQ(all.try_acquire({.wait = 20ms}).error().code, errc::timed_out);
    EXPECT_EQ(all.try_acquire().error().lock, "b");
    EXPECT_FALSE(f.really_held("a") || f.really_held("c"));
    held.release();
    EXPECT_TRUE(all.try_acquire());
}

ROW(kinds, a_multi_lease_is_lost_when_one_of_its_parts_is, &capabilities::evict) {
    auto user = connect(f);
    const multi_lease held = multi_lock{user, {"a", "b"}}.acquire();
    std::atomic<bool> told{false};
    const std::stop_callback on_loss{held.lost(), [&] { told = true; }};
    ASSERT_TRUE(user.evict("b", held["b"].token(), "me"));
    EXPECT_TRUE(f.until([&] { return held.lost().stop_requested(); }, f.ttl()));
    EXPECT_TRUE(f.until([&] { return told.load(); }, f.ttl()));
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(held["a"].held());
}

ROW(kinds, what_a_multi_lock_has_is_renewed_while_it_waits_for_the_rest) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{b, "b"}.acquire({.renew = renewal::manual});
    EXPECT_TRUE(held.try_renew(f.ttl() * 3));
    const multi_lease both = multi_lock{a, {"a", "b"}}.acquire();
    EXPECT_TRUE(both.held());
}

ROW(kinds, fifty_threads_with_overlapping_multi_locks_do_not_wait_in_a_circle) {
    f.with_threads();
    auto a = f.connect();
    auto b = f.connect();
    const std::vector<std::string> names{"n0", "n1", "n2", "n3", "n4"};
    std::vector<fragile_counter> counters(names.size());
    std::atomic<int> expected = 0;
    in_threads(50, [&](std::size_t i) {
        std::minstd_rand random{static_cast<unsigned>(i + 1)};
        std::vector<std::size_t> chosen{i % 5, random() % 5, random() % 5};
        std::vector<std::string> ours;
        for (const auto one : chosen) ours.push_back(names[one]);
        const multi_lock all{i % 2 == 0 ? a : b, ours};
        const multi_lease held = all.acquire();
        for (const auto& one : held.leases()) {
            counters[static_cast<std::size_t>(one.name()[1] - '0')].add();
            ++expected;
        }
    });
    int sum = 0;
    for (const auto& counter : counters) sum += counter.value();
    EXPECT_EQ(sum, expected);
}

ROW(kinds, the_standard_lock_types_take_a_lockable) {
    auto user = connect(f);
    lockable x{mutex{user, "x"}};
    EXPECT_THROW(static_cast<void>(x.held()), std::logic_error);
    {
        std::unique_lock lock{x};
        EXPECT_TRUE(f.really_held("x"));
        EXPECT_TRUE(x.held().held());
        lock.unlock();
        EXPECT_FALSE(f.really_held("x"));
        EXPECT_TRUE(lock.try_lock());
    }
    EXPECT_FALSE(f.really_held("x"));
    {
        const std::scoped_lock both{x};
        EXPECT_TRUE(f.really_held("x"));
    }
    {
        const std::unique_lock lock{x, 10ms};
        EXPECT_TRUE(lock.owns_lock());
        const std::unique_lock second{x, std::chrono::steady_clock::now() + 10ms};
        EXPECT_FALSE(second.owns_lock());
        EXPECT_FALSE(x.try_lock());
        EXPECT_FALSE(x.try_lock_for(-1s));
    }
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, the_standard_shared_lock_takes_a_lockable, &capabilities::shared) {
    auto user = connect(f);
    lockable x{shared_mutex{user, "x"}};
    {
        const std::shared_lock one{x};
        const std::shared_lock two{x, std::try_to_lock};
        const std::shared_lock three{x, 10ms};
        EXPECT_TRUE(two.owns_lock() && three.owns_lock());
        EXPECT_EQ(x.held().how(), access::shared);
    }
    EXPECT_FALSE(f.really_held("x"));
    const std::unique_lock writer{x};
    const std::shared_lock reader{x, std::try_to_lock};
    EXPECT_FALSE(reader.owns_lock());
}

ROW(kinds, std_lock_takes_two_in_any_order) {
    f.with_threads();
    auto a = f.connect();
    lockable x{mutex{a, "x"}};
    lockable y{mutex{a, "y"}};
    fragile_counter counter;
    in_threads(4, [&](std::size_t i) {
        for (int round = 0; round < 5; ++round) {
            if (i % 2 == 0) {
                const std::scoped_lock both{x, y};
                counter.add();
            } else {
                const std::scoped_lock both{y, x};
                counter.add();
            }
        }
    });
    EXPECT_EQ(counter.value(), 4 * 5);
    EXPECT_FALSE(f.really_held("x") || f.really_held("y"));
}

ROW(kinds, a_lockable_that_cannot_be_had_throws_without_having_it) {
    auto user = connect(f);
    user.shutdown();
    lockable x{mutex{user, "x"}};
    EXPECT_THROW(x.lock(), lock_error);
    EXPECT_THROW(static_cast<void>(x.try_lock()), lock_error);
    x.unlock();  // does nothing
}

}  // namespace
}  // namespace holdfast::tests
