#include "support/random.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

TEST(random, ids_are_unique_within_and_across_threads) {
    std::mutex mutex;
    std::unordered_set<unique_id> all;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                std::vector<unique_id> own;
                for (int k = 0; k < 5000; ++k) own.push_back(new_id());
                const std::lock_guard guard{mutex};
                all.insert(own.begin(), own.end());
            });
        }
    }
    EXPECT_EQ(all.size(), 20'000U);
}

TEST(random, a_forked_child_does_not_repeat_its_parents_ids) {
    static_cast<void>(new_id());  // some of the block that the child inherits is used, some not
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const unique_id theirs = new_id();
        ::_exit(::write(ends[1], &theirs, sizeof theirs) == sizeof theirs ? 0 : 1);
    }
    unique_id theirs;
    EXPECT_EQ(::read(ends[0], &theirs, sizeof theirs), ssize_t{sizeof theirs});
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_NE(theirs, unique_id{});
    for (int i = 0; i < 200; ++i) EXPECT_NE(new_id(), theirs);
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
}  // namespace holdfast::support
