// What a store's URL means, and where it is wrong.
#include <gtest/gtest.h>

#include "runtime/registry.hpp"

namespace holdfast::runtime {
namespace {

struct good {
    const char* text;
    const char* scheme;
    const char* authority;
    std::string path;
    const char* shown;
};

class store_url_accepts : public ::testing::TestWithParam<good> {};

TEST_P(store_url_accepts, and_takes_apart) {
    const auto& want = GetParam();
    const auto got = parse_store_url(want.text);
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->scheme, want.scheme);
    EXPECT_EQ(got->authority, want.authority);
    EXPECT_EQ(got->path, want.path);
    EXPECT_EQ(got->shown, want.shown);
}

INSTANTIATE_TEST_SUITE_P(
    rows, store_url_accepts,
    ::testing::Values(
        good{"sqlite:/var/lib/a.db", "sqlite", "", "/var/lib/a.db", "sqlite:/var/lib/a.db"},
        good{"SQLite:a.db", "sqlite", "", "a.db", "sqlite:a.db"},
        good{"sqlite:///a%20b%3F.db", "sqlite", "", "/a b?.db", "sqlite:///a%20b%3F.db"},
        good{"sqlite:/a b/\xc3\xa9", "sqlite", "", "/a b/\xc3\xa9", "sqlite:/a%20b/\xc3\xa9"},
        good{"memory:", "memory", "", "", "memory:"},
        good{"memory:test", "memory", "", "test", "memory:test"},
        good{"/a/b?c#d%", "sqlite", "", "/a/b?c#d%", "sqlite:/a/b%3Fc%23d%25"},
        good{"./a:b", "sqlite", "", "./a:b", "sqlite:./a:b"},
        good{"locks.db", "sqlite", "", "locks.db", "sqlite:locks.db"},
        good{"1:x", "sqlite", "", "1:x", "sqlite:1:x"},
        good{"redis://h", "redis", "h", "", "redis://h"},
        good{"redis://u:p%40ss@h:1/0", "redis", "u:p%40ss@h:1", "/0", "redis://u:***@h:1/0"},
        good{"redis://:secret@h", "redis", ":secret@h", "", "redis://:***@h"},
        good{"redis+sentinel://a:1,b:2,[::1]:3/x", "redis+sentinel", "a:1,b:2,[::1]:3", "/x",
             "redis+sentinel://a:1,b:2,[::1]:3/x"},
        good{"postgresql://%2Fvar%2Frun/db", "postgresql", "%2Fvar%2Frun", "/db",
             "postgresql://%2Fvar%2Frun/db"},
        good{"etcd://h?password=x&ca=/f", "etcd", "h", "", "etcd://h?password=***&ca=/f"}));

TEST(store_url, decodes_options_in_their_order) {
    const auto got = parse_store_url("sqlite:x?b=1%262&a=&c&d=e=f+g");
    ASSERT_TRUE(got);
    const std::vector<std::pair<std::string, std::string>> want{
        {"b", "1&2"}, {"a", ""}, {"c", ""}, {"d", "e=f+g"}};
    EXPECT_EQ(got->options, want);
}

struct bad {
    const char* text;
    const char* says;
    int position;
};

class store_url_refuses : public ::testing::TestWithParam<bad> {};

TEST_P(store_url_refuses, and_names_the_place) {
    const auto got = parse_store_url(GetParam().text);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    const auto& detail = got.error().detail;
    EXPECT_NE(detail.find(GetParam().says), std::string::npos) << detail;
    const auto position = "at position " + std::to_string(GetParam().position);
    EXPECT_TRUE(detail.ends_with(position)) << detail;
    EXPECT_EQ(detail.find("secret"), std::string::npos) << detail;
}

INSTANTIATE_TEST_SUITE_P(
    rows, store_url_refuses,
    ::testing::Values(
        bad{"", "nothing", 1}, bad{"sqlite:/a%2", "two hexadecimal digits in the path", 10},
        bad{"sqlite:/a%zzb", "two hexadecimal digits in the path", 10},
        bad{"sqlite:/a#b", "%23", 10}, bad{"sqlite:/a\nb", "control character", 10},
        bad{"sqlite:x?a=1&a=2", "'a' given twice", 14}, bad{"sqlite:x?=1", "without a name", 10},
        bad{"sqlite:x?a=1&&b", "without a name", 14},
        bad{"sqlite:x?a=%g0", "two hexadecimal digits", 12}, bad{"my-file:x", "scheme", 3},
        bad{"redis://h:0", "1 to 65535", 11}, bad{"redis://h:65536", "1 to 65535", 11},
        bad{"redis://h:", "port is missing", 11}, bad{"redis://h:x", "malformed host or port", 9},
        bad{"redis://a,,b", "host is missing", 11}, bad{"redis://a,b,", "host is missing", 13},
        bad{"redis://:secret@", "host is missing", 17},
        bad{"redis://u:secret@x@h", "percent code in the user part", 17},
        bad{"redis://u:secret%4@h", "two hexadecimal digits", 17},
        bad{"redis://[::1", "malformed host", 9}));

TEST(store_url, refuses_what_is_far_too_long) {
    EXPECT_FALSE(parse_store_url("sqlite:" + std::string(5000, 'x')));
}

}  // namespace
}  // namespace holdfast::runtime
