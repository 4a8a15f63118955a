// Hostile bytes made harmless.
#include <ostream>
#include <set>
#include <string>

#include <cli/text.hpp>
#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

TEST(shown, leaves_printable_text_alone) {
    for (const std::string text : {"stock:1001", "a b/c{}[]%$#", "größe", "鍵", "🔒"}) {
        EXPECT_EQ(shown(text), text);
    }
}

struct row {
    std::string bytes;
    std::string text;
};

void PrintTo(const row& each, std::ostream* out) {
    *out << each.text;
}

class escaped : public testing::TestWithParam<row> {};

TEST_P(escaped, byte_by_byte) {
    EXPECT_EQ(shown(GetParam().bytes), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    bytes, escaped,
    testing::Values(row{std::string(1, '\0'), "\\x00"}, row{"\n\r\t\x7f", "\\x0a\\x0d\\x09\\x7f"},
                    row{"\x1b[31m", "\\x1b[31m"}, row{"a\\x0a", "a\\\\x0a"},
                    row{"\x80\xff", "\\x80\\xff"},  // no UTF-8
                    row{"\xc0\x80\xe0\x80\x80",
                        "\\xc0\\x80\\xe0\\x80\\x80"},                 // too long for what it is
                    row{"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // half of a pair
                    row{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond the last character
                    row{"\xc3", "\\xc3"}, row{"\xe2\x82", "\\xe2\\x82"},  // cut off
                    row{"\xc2\x9b", "\\xc2\\x9b"},             // a control character of terminals
                    row{"\xe2\x80\xae", "\\xe2\\x80\\xae"},    // writes from right to left
                    row{"\xe2\x80\x8b", "\\xe2\\x80\\x8b"}));  // cannot be seen

TEST(shown, never_makes_different_bytes_look_the_same) {
    std::set<std::string> seen;
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            const std::string bytes{static_cast<char>(first), static_cast<char>(second)};
            seen.insert(shown(bytes));
        }
    }
    EXPECT_EQ(seen.size(), 65536U);
}

TEST(hexadecimal, goes_both_ways) {
    const std::string bytes{"\0a\xff", 3};
    EXPECT_EQ(to_hex(bytes), "0061ff");
    EXPECT_EQ(from_hex("0061FF"), bytes);
    EXPECT_EQ(from_hex(""), "");
    for (const char* text : {"0", "0g", "0x00", " 00", "zz"})
        EXPECT_EQ(from_hex(text), std::nullopt);
}

TEST(width, counts_characters) {
    EXPECT_EQ(width("größe"), 5U);
    EXPECT_EQ(cut("größe", 3), "grö");
    EXPECT_EQ(cut("größe", 0), "");
    EXPECT_EQ(cut("größe", 99), "größe");
}

}  // namespace
}  // namespace holdfast::cli
