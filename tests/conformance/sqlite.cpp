// The table on the SQLite store.
#include "conformance/rows.hpp"

namespace holdfast::tests {
namespace {

constexpr fixture_kind sqlite{"sqlite", make_sqlite_fixture};

INSTANTIATE_TEST_SUITE_P(sqlite, contract, testing::Values(sqlite),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(sqlite, kinds, testing::Values(sqlite), testing::PrintToStringParamName());

}  // namespace
}  // namespace holdfast::tests
