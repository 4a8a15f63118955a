// A row of the table: a sentence about behaviour, and the capabilities that it needs. Where a store
// lacks one, the row checks that asking for it is refused before anything reaches the store.
#pragma once

#include <initializer_list>
#include <memory>

#include <gtest/gtest.h>

#include "support/fixture.hpp"

namespace holdfast::tests {

using capability = bool capabilities::*;

class row : public testing::TestWithParam<fixture_kind> {
  protected:
    void run(std::initializer_list<capability> needed, void (*body)(fixture&));
};

/// What the row of a missing capability comes to.
void expect_refused(fixture& f, capability missing);

/// The rules of store.hpp, asked of the bare store.
class contract : public row {};
/// What users see, through the public API.
class kinds : public row {};

}  // namespace holdfast::tests

/// ROW(contract, a_held_name_is_refused, &capabilities::fair) { ... `f` is the fixture ... }
#define ROW(suite, sentence, ...)                                \
    static void suite##_##sentence(::holdfast::tests::fixture&); \
    TEST_P(suite, sentence) {                                    \
        run({__VA_ARGS__}, &suite##_##sentence);                 \
    }                                                            \
    static void suite##_##sentence([[maybe_unused]] ::holdfast::tests::fixture& f)
