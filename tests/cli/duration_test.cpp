// Durations as people write them.
#include <chrono>
#include <ostream>
#include <string>

#include <cli/duration.hpp>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

struct good_row {
    std::string text;
    duration value;
};

void PrintTo(const good_row& row, std::ostream* out) {
    *out << row.text;
}

class accepted : public testing::TestWithParam<good_row> {};

TEST_P(accepted, as_what_it_says) {
    const auto read = parse_duration(GetParam().text);
    ASSERT_TRUE(std::holds_alternative<duration>(read)) << std::get<duration_error>(read).reason;
    EXPECT_EQ(std::get<duration>(read), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    durations, accepted,
    testing::Values(good_row{"0", 0s}, good_row{"5", 5s}, good_row{"0.25", 250ms},
                    good_row{"1.5s", 1500ms}, good_row{"200ms", 200ms}, good_row{"2m", 2min},
                    good_row{"1h30m", 90min},
                    good_row{"1d1h1m1s1ms1us1ns", 25h + 61s + 1ms + 1us + 1ns},
                    good_row{"1.5h30m", 2h}, good_row{"0.000000001s", 1ns},
                    good_row{"0.0000000010s", 1ns}, good_row{"0.5us", 500ns},
                    good_row{"0.1d", 8640s}, good_row{"0.0000152587890625d", 1'318'359'375ns},
                    good_row{"inf", forever}, good_row{"forever", forever},
                    good_row{"9223372036s", 9'223'372'036s},
                    good_row{"9223372036854775806ns", duration{9'223'372'036'854'775'806}},
                    good_row{"000000000000000000000001s", 1s}, good_row{"1.000s", 1s}));

struct bad_row {
    std::string text;
    std::size_t position;
    std::string reason;
};

void PrintTo(const bad_row& row, std::ostream* out) {
    *out << row.text;
}

class refused : public testing::TestWithParam<bad_row> {};

TEST_P(refused, with_position_and_reason) {
    const auto read = parse_duration(GetParam().text);
    ASSERT_TRUE(std::holds_alternative<duration_error>(read));
    EXPECT_EQ(std::get<duration_error>(read).position, GetParam().position);
    EXPECT_EQ(std::get<duration_error>(read).reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    durations, refused,
    testing::Values(
        bad_row{"", 0, "it is empty"}, bad_row{"-1s", 0, "it is negative"},
        bad_row{"s", 0, "a number is missing"}, bad_row{"+1s", 0, "a number is missing"},
        bad_row{".5s", 0, "a number is missing"}, bad_row{" 1s", 0, "a number is missing"},
        bad_row{"1.s", 2, "digits are missing after the point"},
        bad_row{"1 s", 1, "a unit is missing"}, bad_row{"1h5", 3, "a unit is missing"},
        bad_row{"1,5s", 1, "a unit is missing"}, bad_row{"1S", 1, "there is no unit 'S'"},
        bad_row{"1e3", 1, "there is no unit 'e'"}, bad_row{"1infs", 1, "there is no unit 'infs'"},
        bad_row{"Inf", 0, "a number is missing"},
        bad_row{"1m1h", 3, "units go from long to short, each at most once"},
        bad_row{"1s1s", 3, "units go from long to short, each at most once"},
        bad_row{"9223372037s", 0, "it is too long"},
        bad_row{"9223372036854775807ns", 0, "it is too long"},
        bad_row{"99999999999999999999999", 0, "it is too long"},
        bad_row{"106751d1d", 8, "units go from long to short, each at most once"},
        bad_row{"106751d24h", 7, "it is too long"},
        bad_row{"0.0000000001s", 0, "it is finer than a nanosecond"},
        bad_row{"0.5ns", 0, "it is finer than a nanosecond"},
        bad_row{"0.000000000000000000000001d", 0, "it is finer than a nanosecond"}));

TEST(duration_message, names_the_text_the_place_and_what_is_allowed) {
    const auto read = parse_duration("1\x1b");
    EXPECT_EQ(
        describe("1\x1b", std::get<duration_error>(read)),
        "'1\\x1b' is no duration: a unit is missing (at character 2); allowed: 1.5s, 200ms, 2m, "
        "1h30m, a plain number of seconds, or forever");
}

TEST(duration_for_people, has_two_parts_at_most) {
    EXPECT_EQ(format_duration(-1s), "0.0 s");
    EXPECT_EQ(format_duration(1949ms), "1.9 s");
    EXPECT_EQ(format_duration(59'999ms), "59 s");
    EXPECT_EQ(format_duration(3599s), "59 min 59 s");
    EXPECT_EQ(format_duration(86'399s), "23 h 59 min");
    EXPECT_EQ(format_duration(100h), "4 d 4 h");
    EXPECT_EQ(format_duration(forever), "for ever");
}

}  // namespace
}  // namespace holdfast::cli
