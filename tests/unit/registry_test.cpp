// Which store a scheme means, and which library has it.
#include "runtime/registry.hpp"

#include <gmock/gmock.h>

#include <holdfast/client.hpp>

namespace holdfast::runtime {
namespace {

using ::testing::HasSubstr;

TEST(registry, knows_what_is_linked_in_and_nothing_else) {
    EXPECT_TRUE(is_store_known("memory:").value());
    EXPECT_TRUE(is_store_known("MEMORY:name?colour=red").value());
    EXPECT_FALSE(is_store_known("nosuch://host").value());
}

TEST(registry, does_not_know_what_is_no_url) {
    for (const char* text : {"", "redis://h:0", "my-file:x"}) {
        const auto known = is_store_known(text);
        ASSERT_FALSE(known) << text;
        EXPECT_EQ(known.error().code, errc::invalid_argument);
    }
}

TEST(registry, knows_a_store_from_its_registration_on) {
    register_store("late", [](const store_url&, loop&) -> result<std::unique_ptr<store>> {
        return failure{errc::unavailable};
    });
    EXPECT_TRUE(is_store_known("late:").value());
}

struct naming {
    const char* url;
    const char* file;
};

class registry_looks_for : public ::testing::TestWithParam<naming> {};

TEST_P(registry_looks_for, the_library_of_the_store) {
    load_stores_from("/nowhere");
    const auto opened = client::try_open(GetParam().url);
    load_stores_from({});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::invalid_argument);
    EXPECT_THAT(opened.error().detail, HasSubstr(GetParam().file));
}

INSTANTIATE_TEST_SUITE_P(
    rows, registry_looks_for,
    ::testing::Values(naming{"redis://h", "(/nowhere/libholdfast-redis.so: "},
                      naming{"redis+unix:///s", "(/nowhere/libholdfast-redis.so: "},
                      naming{"rediss://h", "(/nowhere/libholdfast-redis.so: "},
                      naming{"rediss+sentinel://h", "(/nowhere/libholdfast-redis.so: "},
                      naming{"redisx://h", "(/nowhere/libholdfast-redisx.so: "}));

}  // namespace
}  // namespace holdfast::runtime
