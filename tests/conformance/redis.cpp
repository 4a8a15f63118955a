// The table on the Redis store.
#include "conformance/rows.hpp"

namespace holdfast::tests {
namespace {

constexpr fixture_kind redis{"redis", make_redis_fixture};

INSTANTIATE_TEST_SUITE_P(redis, contract, testing::Values(redis),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(redis, kinds, testing::Values(redis), testing::PrintToStringParamName());

}  // namespace
}  // namespace holdfast::tests
