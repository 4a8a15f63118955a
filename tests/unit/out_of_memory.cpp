// Memory runs out at every allocation in turn: an error or success, no leak, and the lock is in the
// state that was reported. A program of its own, because it replaces operator new.
#include <cstdlib>
#include <new>
#include <optional>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>

namespace {

// Of the thread that runs the test: the allocation that fails next, counted down; negative: none.
thread_local long fails_after = -1;
thread_local bool failed = false;

void* allocate(std::size_t size) {
    if (fails_after >= 0 && fails_after-- == 0) {
        failed = true;
        throw std::bad_alloc{};
    }
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

}  // namespace

// Not inline: GCC would take one that is and one that is not for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    return allocate(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
    return allocate(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// Lets the n-th allocation fail while it lives.
class failing {
  public:
    explicit failing(long n) {
        failed = false;
        fails_after = n;
    }
    ~failing() { fails_after = -1; }
    failing(const failing&) = delete;
    failing& operator=(const failing&) = delete;
};

constexpr long enough = 400;

// After anything at all the name can be had, at the latest when its ttl is over.
void expect_usable(testing::world& w, client& user, const char* name) {
    if (!mutex{user, name}.try_acquire()) w.advance(1min);
    EXPECT_TRUE((mutex{user, name}.try_acquire()));
    EXPECT_TRUE(w.show(name).holders.empty());
}

TEST(out_of_memory, an_acquisition_fails_or_succeeds_as_it_says) {
    bool reached_the_end = false;
    for (long n = 0; n < enough && !reached_the_end; ++n) {
        SCOPED_TRACE(n);
        testing::world w;
        auto user = w.connect();
        const mutex x{user, "x"};
        std::optional<result<lease>> got;
        try {
            const failing soon{n};
            got.emplace(x.try_acquire());
        } catch (const std::bad_alloc&) {
        }
        reached_the_end = !failed;
        if (got && *got) {
            EXPECT_TRUE((*got)->held());
            EXPECT_EQ(w.show("x").holders.size(), 1U);
            EXPECT_TRUE((*got)->try_release());
        }
        got.reset();
        expect_usable(w, user, "x");
    }
    EXPECT_TRUE(reached_the_end);
}

TEST(out_of_memory, a_release_never_throws_and_is_made_up_for) {
    bool reached_the_end = false;
    for (long n = 0; n < enough && !reached_the_end; ++n) {
        SCOPED_TRACE(n);
        testing::world w;
        auto user = w.connect();
        lease held = mutex{user, "x"}.acquire();
        {
            const failing soon{n};
            static_cast<void>(held.try_release());
        }
        reached_the_end = !failed;
        EXPECT_FALSE(held.held());
        expect_usable(w, user, "x");
    }
    EXPECT_TRUE(reached_the_end);
}

TEST(out_of_memory, renewing_and_losing_survive_it) {
    bool reached_the_end = false;
    for (long n = 0; n < enough && !reached_the_end; ++n) {
        SCOPED_TRACE(n);
        testing::world w;
        auto user = w.connect();
        lease held = mutex{user, "x"}.acquire();
        try {
            const failing soon{n};
            w.advance(2min);
        } catch (const std::bad_alloc&) {
        }
        reached_the_end = !failed;
        w.advance(2min);
        EXPECT_EQ(held.held(), held.loss() == loss_reason::none);
        if (held.held()) {
            EXPECT_EQ(w.show("x").holders.size(), 1U);
        }
        static_cast<void>(held.try_release());
        expect_usable(w, user, "x");
    }
    EXPECT_TRUE(reached_the_end);
}

TEST(out_of_memory, a_shutdown_survives_it) {
    bool reached_the_end = false;
    for (long n = 0; n < enough && !reached_the_end; ++n) {
        SCOPED_TRACE(n);
        testing::world w;
        auto user = w.connect();
        auto other = w.connect();
        lease held = mutex{user, "x"}.acquire();
        {
            const failing soon{n};
            static_cast<void>(user.shutdown());
        }
        reached_the_end = !failed;
        w.advance(1min);
        static_cast<void>(held.try_release());
        expect_usable(w, other, "x");
    }
    EXPECT_TRUE(reached_the_end);
}

}  // namespace
}  // namespace holdfast
