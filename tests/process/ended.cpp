// Processes that end in good order, and what they leave to others (spec A6; orphans and tickets).
#include <sys/wait.h>

#include <string>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/agents.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

class ended : public testing::Test {
  protected:
    bool is_free(const std::string& name) {
        return eventually([&] { return mutex(look, name).try_acquire().has_value(); }, 5s);
    }
    stage scene;
    client look = client::open(scene.url());
};

TEST_F(ended, exit_while_renewing_is_quick_and_frees_everything) {
    agent_process holder{scene, 60ms};  // renewed every 20 ms
    ASSERT_TRUE(holder.does("get a mutex a", "granted a"));
    ASSERT_TRUE(holder.does("get b mutex b", "granted b"));
    const auto before = boot_clock::now();
    holder.tell("exit");
    const auto status = holder.end(5s);
    ASSERT_TRUE(status);
    EXPECT_LT(boot_clock::now() - before, 2s);
    EXPECT_TRUE(WIFEXITED(*status)) << *status;
    EXPECT_EQ(WEXITSTATUS(*status), 7);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

TEST_F(ended, a_return_from_main_while_renewing_and_waiting_is_quick) {
    agent_process holder{scene};
    agent_process both{scene, 60ms};
    ASSERT_TRUE(holder.does("get x mutex x", "granted x"));
    ASSERT_TRUE(both.does("get a mutex a", "granted a"));
    ASSERT_TRUE(both.does("ask b mutex x", "asked"));
    both.tell("return");
    const auto status = both.end(5s);
    ASSERT_TRUE(status);
    EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 8) << *status;
    EXPECT_TRUE(is_free("a"));
    EXPECT_TRUE(eventually([&] { return look.show("x").value().waiters.empty(); }));
}

TEST_F(ended, a_process_that_is_terminated_frees_its_locks_at_once) {
    agent_process holder{scene};
    ASSERT_TRUE(holder.does("get x mutex x", "granted x"));
    holder.send(SIGTERM);
    const auto status = holder.end(5s);
    ASSERT_TRUE(status);
    EXPECT_TRUE(WIFSIGNALED(*status));
    EXPECT_TRUE(is_free("x"));
}

TEST_F(ended, an_orphan_survives_its_process_until_its_ttl_is_over) {
    agent_process holder{scene, 1s};
    ASSERT_TRUE(holder.does("get x mutex x", "granted x"));
    ASSERT_TRUE(holder.does("orphan x", "orphaned"));
    const auto orphaned = boot_clock::now();
    holder.tell("exit");
    ASSERT_TRUE(holder.end());
    EXPECT_EQ(look.show("x").value().holders.size(), 1U);
    EXPECT_FALSE(look.show("x").value().holders.at(0).bound);
    const lease next = mutex{look, "x"}.acquire();
    EXPECT_GE(boot_clock::now() - orphaned, 900ms);
}

TEST_F(ended, a_ticket_hands_a_hold_to_another_process) {
    agent_process giver{scene, 2s};
    agent_process taker{scene, 300ms};
    ASSERT_TRUE(giver.does("get x mutex x", "granted x"));
    giver.tell("export x");
    const auto written = giver.hear("ticket ");
    ASSERT_TRUE(written);
    giver.send(SIGKILL);
    ASSERT_TRUE(giver.end());
    EXPECT_FALSE((mutex{look, "x"}.try_acquire()));
    ASSERT_TRUE(taker.does("adopt y " + *written, "granted y"));
    EXPECT_TRUE(taker.does("write y", "written"));
    EXPECT_TRUE(eventually([&] { return look.show("x").value().holders.at(0).bound; }));
    taker.send(SIGKILL);
    ASSERT_TRUE(taker.end());
    EXPECT_TRUE(is_free("x")) << "it is bound to the one that took it";
}

}  // namespace
}  // namespace holdfast::tests
