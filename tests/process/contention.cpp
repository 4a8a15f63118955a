// Many processes and threads at once; the history tells whether all was right (spec A14, J9).
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/agents.hpp"
#include "support/history.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

class contention : public testing::Test {
  protected:
    std::vector<std::unique_ptr<agent_process>> start(std::size_t count, duration ttl = 30s) {
        std::vector<std::unique_ptr<agent_process>> agents;
        for (std::size_t i = 0; i < count; ++i) {
            agents.push_back(std::make_unique<agent_process>(scene, ttl));
        }
        return agents;
    }
    verdict judge(std::uint32_t capacity = 1) {
        verdict found;
        const auto log = history_log{scene.log()}.read();
        check_token_order(log, found);
        check_writes(log, found);
        check_overlap(log, capacity, found);
        // The machine is overloaded on purpose: told late is one thing, not told another.
        check_detection(log, 2s, found);
        return found;
    }
    stage scene;
};

const std::vector<std::string> none{};

TEST_F(contention, sixty_four_processes_lose_no_update) {
    const auto agents = start(64);
    for (const auto& one : agents) one->tell("work 1 5 mutex x");
    for (const auto& one : agents) EXPECT_TRUE(one->hear("done 5", 60s));
    EXPECT_EQ(guarded_number{scene.number()}.value(), 64U * 5U);
    const auto found = judge();
    EXPECT_EQ(found.problems, none);
    EXPECT_EQ(found.grants, 64U * 5U);
}

TEST_F(contention, a_thousand_threads_of_one_process_lose_no_update) {
    agent_process busy{scene};
    EXPECT_TRUE(busy.does("work 1000 1 mutex x", "done 1000", 60s));
    EXPECT_EQ(guarded_number{scene.number()}.value(), 1000U);
    EXPECT_EQ(judge().problems, none);
}

TEST_F(contention, the_threads_of_four_processes_lose_no_update) {
    const auto agents = start(4);
    for (const auto& one : agents) one->tell("work 50 2 mutex x");
    for (const auto& one : agents) EXPECT_TRUE(one->hear("done 100", 60s));
    EXPECT_EQ(guarded_number{scene.number()}.value(), 400U);
    EXPECT_EQ(judge().problems, none);
}

TEST_F(contention, readers_and_writers_of_sixteen_processes_keep_apart) {
    const auto agents = start(16);
    for (std::size_t i = 0; i < agents.size(); ++i) {
        agents[i]->tell(i % 4 == 0 ? "work 1 5 exclusive x" : "work 2 5 shared x");
    }
    for (std::size_t i = 0; i < agents.size(); ++i) {
        EXPECT_TRUE(agents[i]->hear(i % 4 == 0 ? "done 5" : "done 10", 60s));
    }
    EXPECT_EQ(guarded_number{scene.number()}.value(), 20U);
    const auto found = judge();
    EXPECT_EQ(found.problems, none);
    EXPECT_EQ(found.grants, 4U * 5U + 12U * 10U);
}

TEST_F(contention, sixteen_processes_never_hold_more_permits_than_there_are) {
    const auto agents = start(16);
    for (std::size_t i = 0; i < agents.size(); ++i) {
        agents[i]->tell("work 2 5 permits:" + std::to_string(1 + i % 4) + "/5 x");
    }
    for (const auto& one : agents) EXPECT_TRUE(one->hear("done 10", 60s));
    EXPECT_EQ(judge(5).problems, none);
}

TEST_F(contention, starved_processes_are_told_what_they_lose) {
    // Six processes of two threads each on two processors, with a ttl that is nearly too short.
    const auto agents = start(6, 40ms);
    for (const auto& one : agents) one->tell("work 2 15 mutex x");
    for (const auto& one : agents) EXPECT_TRUE(one->hear("done", 60s));
    const auto found = judge();
    EXPECT_EQ(found.problems, none);
    RecordProperty("grants", static_cast<int>(found.grants));
    RecordProperty("losses", static_cast<int>(found.losses));
}

TEST_F(contention, without_the_lock_the_history_would_show_it) {
    // The checker itself: two beliefs that overlap, a token that is given twice, an old write.
    history_log log{scene.log()};
    const auto put = [&](deed what, std::uint64_t process, std::uint64_t token, int from, int at,
                         int until) {
        entry& line = log.begin(what, "x");
        line.process = process;
        line.handle = token;
        line.token = token;
        line.from = from;
        line.at = at;
        line.until = until;
        history_log::end(line);
    };
    put(deed::acquired, 1, 5, 0, 10, 100);
    put(deed::acquired, 2, 5, 20, 30, 100);
    put(deed::wrote, 2, 5, 0, 40, 0);
    put(deed::wrote, 3, 4, 0, 50, 0);
    put(deed::refused, 4, 9, 0, 60, 0);
    verdict tokens;
    verdict writes;
    verdict overlap;
    check_token_order(log.read(), tokens);
    check_writes(log.read(), writes);
    check_overlap(log.read(), 1, overlap);
    EXPECT_EQ(tokens.problems.size(), 2U);
    EXPECT_EQ(writes.problems.size(), 2U);
    EXPECT_EQ(overlap.problems.size(), 1U);
}

}  // namespace
}  // namespace holdfast::tests
