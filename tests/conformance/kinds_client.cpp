// The client: its end, what it shows, and callbacks.
#include <stdexcept>
#include <thread>

#include "conformance/users.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

ROW(kinds, a_shutdown_releases_everything_and_tells_everybody) {
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    const lease other = mutex{b, "y"}.acquire();
    outcome at_store;
    outcome behind;
    mutex{a, "y"}.async_acquire({}, at_store.handler());
    mutex{a, "y"}.async_acquire({}, behind.handler());
    EXPECT_EQ(a.shutdown(), 0U);
    EXPECT_FALSE(held.held());
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_EQ(held.loss(), loss_reason::shut_down);
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_TRUE(f.until([&] { return at_store.arrived() && behind.arrived(); }));
    EXPECT_EQ(at_store.code(), errc::cancelled);
    EXPECT_EQ(behind.code(), errc::cancelled);
    EXPECT_EQ((mutex{a, "z"}.try_acquire().error().code), errc::cancelled);
    EXPECT_EQ(a.try_wait_free("z").error().code, errc::cancelled);
    EXPECT_EQ(held.try_release().error().code, errc::lost);
    EXPECT_EQ(a.shutdown(), 0U) << "a second one does nothing";
    EXPECT_TRUE(other.held());
}

ROW(kinds, a_shutdown_returns_in_time_and_tells_what_is_uncertain) {
    auto a = connect(f);
    lease held = mutex{a, "x"}.acquire();
    if (!f.cut(a)) return;
    EXPECT_EQ(a.shutdown(100ms), 1U);
    EXPECT_TRUE(f.really_held("x")) << "the store ends it by its ttl";
}

ROW(kinds, a_ticket_is_not_adopted_by_a_client_that_was_shut_down) {
    auto a = connect(f);
    auto b = connect(f);
    auto c = connect(f);
    const auto written = mutex{a, "x"}.acquire().export_ticket();
    b.shutdown();
    EXPECT_EQ(b.try_adopt(written).error().code, errc::cancelled);
    EXPECT_TRUE(c.try_adopt(written));
}

ROW(kinds, the_last_handle_shuts_the_client_down) {
    {
        auto a = connect(f);
        mutex x{a, "x"};
        outcome granted;
        x.async_acquire({}, granted.handler());
        EXPECT_TRUE(f.until([&] { return granted.granted(); }));
        granted.take().release();
    }
    auto b = connect(f);
    EXPECT_TRUE((mutex{b, "x"}.try_acquire()));
}

ROW(kinds, an_observer_sees_everything) {
    const auto watch = std::make_shared<recorder>();
    auto a = connect(f, {.label = "the holder"});
    auto b = connect(f, {.watch = watch});
    using type = event::type;
    {
        lease held = mutex{a, "x"}.acquire();
        EXPECT_FALSE((mutex{b, "x"}.try_acquire()));
        EXPECT_FALSE((mutex{b, "x"}.try_acquire({.wait = 20ms})));
        outcome waiting;
        mutex{b, "x"}.async_acquire({}, waiting.handler());
        f.pass(1ms);
        held.release();
        EXPECT_TRUE(f.until([&] { return waiting.granted(); }));
        const lease got = waiting.take();
        f.pass(f.ttl());
    }
    const lease fixed = mutex{b, "y"}.acquire({.renew = renewal::manual});
    EXPECT_TRUE(f.until([&] { return fixed.loss() != loss_reason::none; }));
    EXPECT_TRUE(f.until([&] { return watch->count(type::lost) == 1; }));
    EXPECT_EQ(watch->count(type::refused), 2U);
    EXPECT_EQ(watch->count(type::waiting), 2U);
    EXPECT_EQ(watch->count(type::acquired), 2U);
    EXPECT_GE(watch->count(type::renewed), 2U);
    EXPECT_EQ(watch->count(type::released), 1U);
    EXPECT_EQ(watch->count(type::at_risk), 1U);
    for (const auto& one : watch->all()) {
        EXPECT_TRUE(one.lock == "x" || one.lock == "y");
        EXPECT_EQ(one.what == type::refused, one.why.has_value());
        EXPECT_EQ(one.what == type::lost, one.loss == loss_reason::expired);
        EXPECT_GE(one.took, duration::zero());
        if (one.what == type::refused) {
            EXPECT_NE(one.holder.find("the holder"), std::string::npos);
        }
        if (one.what == type::released || one.what == type::renewed || one.what == type::lost) {
            EXPECT_GT(one.token, fencing_token{});
        }
    }
}

// Calls back into the client whatever happens, and then throws.
class nosy final : public observer {
  public:
    explicit nosy(fixture& f) : other_(connect(f)) {}
    void on_event(const event& what) override {
        static_cast<void>(mutex{other_, what.lock}.try_acquire());
        {
            const std::lock_guard guard{mutex_};
            if (held_ != nullptr) static_cast<void>(held_->held());
        }
        throw std::runtime_error("an observer that throws");
    }
    void look_at(const lease* held) {
        const std::lock_guard guard{mutex_};
        held_ = held;
    }

  private:
    client other_;
    std::mutex mutex_;
    const lease* held_ = nullptr;
};

ROW(kinds, an_observer_may_call_back_and_may_throw) {
    const auto watch = std::make_shared<nosy>(f);
    auto a = connect(f, {.watch = watch});
    lease held = mutex{a, "x"}.acquire();
    watch->look_at(&held);
    f.pass(f.ttl());
    EXPECT_TRUE(held.held());
    watch->look_at(nullptr);
    held.release();
    EXPECT_FALSE((mutex{a, "y"}.try_acquire({.wait = -1ns})));
}

ROW(kinds, a_loss_callback_may_use_the_lease_and_the_client) {
    std::atomic<bool> called = false;
    auto a = connect(f);
    lease held = mutex{a, "x"}.acquire({.renew = renewal::manual});
    const std::stop_callback on_loss{held.lost(), [&] {
                                         EXPECT_FALSE(held.held());
                                         EXPECT_EQ(held.try_renew().error().code, errc::lost);
                                         EXPECT_TRUE((mutex{a, "y"}.try_acquire()));
                                         const auto again = mutex{a, "x"}.try_acquire({.wait = 1s});
                                         EXPECT_TRUE(again);
                                         called = true;
                                     }};
    EXPECT_TRUE(f.until([&] { return called.load(); }));
    EXPECT_EQ(held.try_release().error().code, errc::lost);
}

ROW(kinds, a_loss_callback_may_release) {
    std::atomic<bool> called = false;
    auto a = connect(f);
    lease held = mutex{a, "x"}.acquire({.renew = renewal::manual});
    const std::stop_callback on_loss{held.lost(), [&] {
                                         EXPECT_EQ(held.try_release().error().code, errc::lost);
                                         called = true;
                                     }};
    EXPECT_TRUE(f.until([&] { return called.load(); }));
    EXPECT_FALSE(f.really_held("x"));
}

ROW(kinds, a_handler_may_acquire_release_and_throw) {
    outcome second;
    auto a = connect(f);
    mutex{a, "x"}.async_acquire({}, [&](result<lease> got) {
        EXPECT_TRUE(got);
        EXPECT_EQ((mutex{a, "x"}.try_acquire().error().code), errc::busy);
        EXPECT_TRUE((mutex{a, "y"}.try_acquire()));
        mutex{a, "x"}.async_acquire({}, second.handler());
        throw std::runtime_error("a handler that throws");
    });
    EXPECT_TRUE(f.until([&] { return second.granted(); })) << "the first lease was dropped";
}

ROW(kinds, a_handler_that_blocks_delays_no_renewal) {
    f.with_threads();
    // The handler may outlive the test's body.
    const auto leave = std::make_shared<event_flag>();
    const auto entered = std::make_shared<event_flag>();
    auto a = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    mutex{a, "y"}.async_acquire({}, [leave, entered](result<lease> got) {
        EXPECT_TRUE(got);
        entered->set();
        EXPECT_TRUE(leave->wait());
    });
    EXPECT_TRUE(entered->wait());
    f.pass(f.ttl() * 2);
    EXPECT_TRUE(held.held());
    EXPECT_TRUE(f.really_held("x"));
    leave->set();
}

ROW(kinds, ten_thousand_acquisitions_wait_without_a_thread_each) {
    std::atomic<std::size_t> served = 0;
    std::atomic<std::uint64_t> newest = 0;
    auto a = connect(f);
    auto b = connect(f);
    lease held = mutex{a, "x"}.acquire();
    const auto before = thread_count();
    constexpr std::size_t many = 10'000;
    for (std::size_t i = 0; i < many; ++i) {
        mutex{b, "x"}.async_acquire({}, [&](result<lease> got) {
            if (!got) return;
            EXPECT_EQ(got->token().value() > newest, true);
            newest = got->token().value();
            ++served;
        });
    }
    EXPECT_LE(thread_count(), before + 4);
    held.release();
    EXPECT_TRUE(f.until([&] { return served == many; }, 60s)) << served;
}

ROW(kinds, ten_thousand_waiters_are_cancelled_at_once) {
    std::atomic<std::size_t> cancelled = 0;
    auto a = connect(f);
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    constexpr std::size_t many = 10'000;
    for (std::size_t i = 0; i < many; ++i) {
        mutex{b, "x"}.async_acquire({}, [&](result<lease> got) {
            cancelled += !got && got.error().code == errc::cancelled;
        });
    }
    EXPECT_EQ(b.shutdown(), 0U);
    EXPECT_TRUE(f.until([&] { return cancelled == many; })) << cancelled;
    EXPECT_TRUE(held.held());
}

ROW(kinds, holders_and_waiters_are_shown, &capabilities::inspect) {
    auto a = connect(f, {.label = "first"});
    auto b = connect(f);
    const lease held = mutex{a, "x"}.acquire();
    outcome waiting;
    mutex{b, "x"}.async_acquire({.label = "second"}, waiting.handler());
    ASSERT_TRUE(f.until([&] { return !a.show("x").value().waiters.empty(); }));
    const auto shown = a.show("x").value();
    ASSERT_EQ(shown.holders.size(), 1U);
    EXPECT_NE(shown.holders[0].owner.find("first"), std::string::npos);
    EXPECT_EQ(shown.holders[0].token, held.token());
    ASSERT_EQ(shown.waiters.size(), 1U);
    EXPECT_NE(shown.waiters[0].owner.find("second"), std::string::npos);
    EXPECT_EQ(a.list().value().size(), 1U);
    EXPECT_TRUE(a.list("y").value().empty());
    EXPECT_FALSE(a.examine().empty());
}

}  // namespace
}  // namespace holdfast::tests
