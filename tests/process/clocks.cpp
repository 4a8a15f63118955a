// The wall clock means nothing to a lease (spec A9).
#include <string>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/agents.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

TEST(clocks, a_wall_clock_that_jumps_by_hours_changes_nothing) {
    const stage scene;
    const client look = client::open(scene.url());
    const mutex x{look, "x"};
    agent_process other{scene, 300ms, HOLDFAST_WILD_CLOCK};
    ASSERT_TRUE(other.does("now", "wild")) << "the library was not preloaded";

    // It holds on, through many renewals, and believes so.
    ASSERT_TRUE(other.does("get a mutex x", "granted a"));
    EXPECT_EQ(x.try_acquire({.wait = 900ms}).error().code, errc::timed_out);
    EXPECT_TRUE(other.does("held a", "held"));
    EXPECT_TRUE(other.does("release a", "released"));

    // It waits as long as it was told to, and is woken.
    lease ours = x.acquire();
    const auto before = boot_clock::now();
    ASSERT_TRUE(
        other.does("get b mutex x wait=300", "failed " + std::to_string(int(errc::timed_out))));
    EXPECT_GE(boot_clock::now() - before, 300ms);
    ASSERT_TRUE(other.does("ask c mutex x", "asked"));
    ours.release();
    EXPECT_TRUE(other.hear("granted c"));
}

}  // namespace
}  // namespace holdfast::tests
