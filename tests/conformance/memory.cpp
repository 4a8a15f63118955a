// The table on the memory store, and what becomes of it on a store that can do nothing but mutexes.
#include <memory>
#include <string>

#include <holdfast/mutex.hpp>

#include "conformance/rows.hpp"

namespace holdfast::tests {
namespace {

constexpr fixture_kind memory{"memory", make_memory_fixture};

INSTANTIATE_TEST_SUITE_P(memory, contract, testing::Values(memory),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(memory, kinds, testing::Values(memory), testing::PrintToStringParamName());

struct lack {
    const char* name;
    capability what;
    friend void PrintTo(const lack& one, std::ostream* to) { *to << one.name; }
};

class mutexes_only : public testing::TestWithParam<lack> {};

TEST_P(mutexes_only, refuses_before_any_traffic) {
    const auto poor = make_poor_fixture();
    expect_refused(*poor, GetParam().what);
    auto user = poor->connect();
    EXPECT_TRUE((mutex{user, "x"}.try_acquire()));
}

INSTANTIATE_TEST_SUITE_P(memory, mutexes_only,
                         testing::Values(lack{"shared", &capabilities::shared},
                                         lack{"semaphores", &capabilities::semaphores},
                                         lack{"fair", &capabilities::fair},
                                         lack{"inspect", &capabilities::inspect},
                                         lack{"evict", &capabilities::evict}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace holdfast::tests
