// Processes that are killed, stopped or forked while they hold or wait (spec A1, A4, A5, A7).
#include <signal.h>
#include <sys/wait.h>

#include <string>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/agents.hpp"
#include "support/history.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

// The last word of an answer is when it happened.
time_point moment_in(const std::optional<std::string>& answer) {
    return time_point{duration{std::stoll(answer->substr(answer->rfind(' ') + 1))}};
}

// Asks, and makes sure that it stands in the queue behind `before` others.
void queue_up(agent_process& who, client& look, std::size_t before) {
    ASSERT_TRUE(who.does("ask h mutex x", "asked"));
    ASSERT_TRUE(eventually([&] { return look.show("x").value().waiters.size() == before + 1; }));
}

class killed : public testing::Test {
  protected:
    stage scene;
    client look = client::open(scene.url());
};

TEST_F(killed, a_killed_holder_frees_its_lock_at_once) {
    agent_process holder{scene};
    agent_process waiter{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    queue_up(waiter, look, 0);
    const auto before = boot_clock::now();
    holder.send(SIGKILL);
    const auto granted = waiter.hear("granted h");
    ASSERT_TRUE(granted);
    EXPECT_LT(moment_in(granted) - before, 2s) << "long before the ttl of 30 s";
    EXPECT_TRUE(waiter.does("write h", "written"));
}

TEST_F(killed, a_killed_holder_frees_all_kinds_of_holds) {
    agent_process holder{scene};
    agent_process other{scene};
    ASSERT_TRUE(holder.does("get r shared r", "granted r"));
    ASSERT_TRUE(holder.does("get s permits:2/3 s", "granted s"));
    ASSERT_TRUE(other.does("get w exclusive r wait=0", "failed"));
    holder.send(SIGKILL);
    ASSERT_TRUE(holder.end());
    EXPECT_TRUE(other.does("get w exclusive r", "granted w", 5s));
    EXPECT_TRUE(other.does("get s permits:3/3 s", "granted s", 5s));
}

TEST_F(killed, a_waiter_that_is_killed_in_the_middle_of_the_queue_keeps_nobody_waiting) {
    agent_process holder{scene};
    agent_process first{scene};
    agent_process second{scene};
    agent_process third{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    queue_up(first, look, 0);
    queue_up(second, look, 1);
    queue_up(third, look, 2);
    second.send(SIGKILL);
    ASSERT_TRUE(second.end());
    ASSERT_TRUE(holder.does("release h", "released"));
    ASSERT_TRUE(first.hear("granted h"));
    ASSERT_TRUE(first.does("release h", "released"));
    EXPECT_TRUE(third.hear("granted h", 5s));
}

TEST_F(killed, the_whole_queue_moves_up_when_its_head_and_the_holder_are_killed) {
    agent_process holder{scene};
    agent_process first{scene};
    agent_process second{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    queue_up(first, look, 0);
    queue_up(second, look, 1);
    first.send(SIGKILL);
    holder.send(SIGKILL);
    EXPECT_TRUE(second.hear("granted h", 5s));
}

TEST_F(killed, a_holder_that_is_stopped_past_its_ttl_is_told_and_its_write_refused) {
    agent_process holder{scene, 300ms};
    agent_process waiter{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    queue_up(waiter, look, 0);
    holder.send(SIGSTOP);
    ASSERT_TRUE(waiter.hear("granted h"));
    ASSERT_TRUE(waiter.does("write h", "written"));
    holder.tell("write h");
    holder.tell("held h");
    holder.tell("release h");
    const auto woken = boot_clock::now();
    holder.send(SIGCONT);
    EXPECT_TRUE(holder.hear("refused")) << "its token is old";
    EXPECT_TRUE(holder.hear("not held"));
    const auto lost = holder.hear("lost h");
    ASSERT_TRUE(lost);
    EXPECT_LT(moment_in(lost) - woken, promptly) << "told as soon as it woke";
    EXPECT_TRUE(holder.hear("failed " + std::to_string(static_cast<int>(errc::lost))));
    EXPECT_TRUE(waiter.does("held h", "held"));
    EXPECT_EQ(look.show("x").value().holders.size(), 1U);
    EXPECT_TRUE(waiter.does("release h", "released"));
    verdict found;
    const auto log = history_log{scene.log()}.read();
    check_token_order(log, found);
    check_writes(log, found);
    check_overlap(log, 1, found);
    EXPECT_EQ(found.problems, std::vector<std::string>{});
}

TEST_F(killed, a_stopped_waiter_at_the_head_is_passed_over_and_keeps_its_place) {
    agent_process holder{scene};
    agent_process first{scene};
    agent_process second{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    queue_up(first, look, 0);
    queue_up(second, look, 1);
    first.send(SIGSTOP);
    ASSERT_TRUE(holder.does("release h", "released"));
    EXPECT_TRUE(second.hear("granted h", 10s)) << "after a second of patience";
    first.send(SIGCONT);
    ASSERT_TRUE(second.does("release h", "released"));
    EXPECT_TRUE(first.hear("granted h"));
}

TEST_F(killed, a_forked_child_can_neither_use_nor_harm_nor_keep_the_lock) {
    agent_process holder{scene};
    agent_process waiter{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    queue_up(waiter, look, 0);
    holder.tell("fork h");
    const auto child = holder.hear("child ");
    ASSERT_TRUE(child);
    EXPECT_NE(child->find("harmless"), std::string::npos);
    EXPECT_TRUE(holder.does("held h", "held"));
    EXPECT_TRUE(holder.does("write h", "written"));
    const pid_t pid = std::stoi(*child);
    // The parent dies, the child lives on: it does not keep the lock.
    holder.send(SIGKILL);
    EXPECT_TRUE(waiter.hear("granted h", 5s));
    EXPECT_EQ(::kill(pid, 0), 0);
    ::kill(pid, SIGKILL);
}

TEST_F(killed, a_child_that_ends_takes_nothing_with_it) {
    agent_process holder{scene};
    ASSERT_TRUE(holder.does("get h mutex x", "granted h"));
    holder.tell("fork h");
    const auto child = holder.hear("child ");
    ASSERT_TRUE(child);
    ::kill(std::stoi(*child), SIGTERM);
    EXPECT_TRUE(holder.does("held h", "held"));
    EXPECT_FALSE((mutex{look, "x"}.try_acquire()));
    EXPECT_TRUE(holder.does("release h", "released"));
    EXPECT_TRUE((mutex{look, "x"}.try_acquire()));
}

}  // namespace
}  // namespace holdfast::tests
