// A forked child may neither use nor harm what it inherited.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/wait.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

// Runs in a child; the number of the first check that failed, or 0. A child that hangs is killed.
int in_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

template <class T>
bool is_forked(const result<T>& answer) {
    return !answer && answer.error().code == errc::forked;
}

template <class Call>
bool throws_forked(Call&& call) {
    try {
        call();
    } catch (const lock_error& error) {
        return error.reason() == errc::forked;
    }
    return false;
}

int failed_check(std::initializer_list<bool> checks) {
    int number = 0;
    for (const bool passed : checks) {
        ++number;
        if (!passed) return number;
    }
    return 0;
}

class fork_test : public testing::Test {
  protected:
    client user = client::open("memory:fork");
};

TEST_F(fork_test, every_call_on_the_client_fails_in_the_child) {
    const mutex x{user, "x"};
    const shared_mutex y{user, "y"};
    const semaphore z{user, "z", 3};
    const reentrant_mutex r{user, "r"};
    const lease nested = r.acquire();
    EXPECT_EQ(in_child([&] {
                  return failed_check({
                      is_forked(x.try_acquire()),
                      throws_forked([&] { static_cast<void>(x.acquire()); }),
                      throws_forked([&] { x.async_acquire({}, [](result<lease>) {}); }),
                      is_forked(y.try_acquire_shared()),
                      is_forked(z.try_acquire(2)),
                      is_forked(r.try_acquire()),
                      is_forked(multi_lock{user, {"a", "b"}}.try_acquire()),
                      r.hold_count() == 0 && !r.held_by(),
                      is_forked(user.try_wait_free("x")),
                      is_forked(user.try_adopt({"hf1.78.0123456789abcdeffedcba9876543210.7"})),
                      is_forked(user.list()),
                      is_forked(user.show("x")),
                      is_forked(user.evict("x", fencing_token{1}, "me")),
                      user.examine().empty(),
                      user.shutdown() == 0,
                  });
              }),
              0);
    EXPECT_TRUE(x.try_acquire()) << "the parent's client is unharmed";
}

TEST_F(fork_test, a_lease_is_not_held_in_the_child_and_stays_held_in_the_parent) {
    lease held = mutex{user, "x"}.acquire();
    EXPECT_EQ(in_child([&] {
                  lease moved = std::move(held);
                  const int failed = failed_check({
                      !moved.held(),
                      moved.loss() == loss_reason::none,
                      !moved.lost().stop_requested(),
                      is_forked(moved.try_renew()),
                      is_forked(moved.try_orphan()),
                      is_forked(moved.try_export_ticket()),
                      is_forked(moved.try_release()),
                      moved.try_release().error().code == errc::not_held,
                  });
                  return failed;
              }),
              0);
    EXPECT_TRUE(held.held());
    EXPECT_FALSE((mutex{user, "x"}.try_acquire()));
    EXPECT_TRUE(held.try_release());
}

TEST_F(fork_test, destructors_in_the_child_do_nothing) {
    std::optional<lease> held = mutex{user, "x"}.acquire();
    std::optional<client> own = client::open("memory:fork");
    std::optional<lease> last = mutex{*own, "y"}.acquire();
    EXPECT_EQ(in_child([&] {
                  held.reset();
                  own.reset();
                  last.reset();
                  return 0;
              }),
              0);
    EXPECT_TRUE(held->held());
    EXPECT_TRUE(last->held());
    EXPECT_FALSE((mutex{user, "x"}.try_acquire()));
}

TEST_F(fork_test, exit_of_the_child_runs_its_static_destructors_without_harm) {
    static std::optional<client> everywhere;
    static std::optional<lease> held;
    everywhere = user;
    held = mutex{*everywhere, "x"}.acquire();
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(20);
        std::exit(0);  // NOLINT(concurrency-mt-unsafe): it is the point
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(held->held());
    held.reset();
    everywhere.reset();
}

#if !defined(__SANITIZE_THREAD__)  // which cannot follow threads that a forked child starts
TEST_F(fork_test, a_child_may_open_a_client_of_its_own) {
    const lease held = mutex{user, "x"}.acquire();
    EXPECT_EQ(in_child([&] {
                  auto own = client::open("memory:of the child");
                  lease got = mutex{own, "x"}.acquire();
                  const bool renewed = got.try_renew().has_value();
                  const bool busy = !mutex{own, "x"}.try_acquire({.wait = 10ms});
                  return failed_check({got.held(), renewed, busy, got.try_release().has_value()});
              }),
              0);
}
#endif

TEST_F(fork_test, a_fork_while_threads_wait_and_renew_harms_nobody) {
    const lease held = mutex{user, "x"}.acquire();
    std::vector<std::jthread> waiters;
    for (int i = 0; i < 4; ++i) {
        waiters.emplace_back([&] {
            static_cast<void>(mutex{user, "x"}.try_acquire({.wait = 1s}));
        });
    }
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(in_child([&] {
                      return failed_check({is_forked(mutex{user, "x"}.try_acquire()), !held.held(),
                                           user.shutdown() == 0});
                  }),
                  0);
    }
    EXPECT_TRUE(held.held());
}

}  // namespace
}  // namespace holdfast
