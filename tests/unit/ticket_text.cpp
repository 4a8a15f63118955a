#include "session/ticket_text.hpp"

#include <cctype>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

using namespace std::string_literals;

constexpr claim_id some_claim{{0x0123456789abcdef, 0xfedcba9876543210}};

TEST(ticket_text, survives_a_round_trip) {
    std::vector<std::string> names{"x", "\0"s, "a\0b"s, ".", "..", "hf1.", "\xff\xfe", " "};
    names.push_back(std::string(name_bytes_max, '\x80'));
    for (const auto& name : names) {
        for (const auto token : {std::uint64_t{1}, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
            const ticket written = write_ticket({name, some_claim, fencing_token{token}});
            const auto read = parse_ticket(written.text);
            ASSERT_TRUE(read) << written.text;
            EXPECT_EQ(read->name, name);
            EXPECT_EQ(read->claim, some_claim);
            EXPECT_EQ(read->token, fencing_token{token});
        }
    }
}

TEST(ticket_text, is_one_word_of_printable_characters) {
    const ticket written = write_ticket({"a b\n\x1b\0\xff"s, some_claim, fencing_token{7}});
    for (const char c : written.text) EXPECT_TRUE(std::isgraph(static_cast<unsigned char>(c)));
    EXPECT_EQ(written.text, "hf1.6120620a1b00ff.0123456789abcdeffedcba9876543210.7");
}

TEST(ticket_text, names_the_part_that_is_wrong) {
    const std::string claim = "0123456789abcdeffedcba9876543210";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "version"},
        {"hf", "version"},
        {"hf2.78." + claim + ".1", "version"},
        {"HF1.78." + claim + ".1", "version"},
        {" hf1.78." + claim + ".1", "version"},
        {"hf1", "name"},
        {"hf1.." + claim + ".1", "name"},
        {"hf1.7." + claim + ".1", "name"},
        {"hf1.7g." + claim + ".1", "name"},
        {"hf1.+7." + claim + ".1", "name"},
        {"hf1.-7." + claim + ".1", "name"},
        {"hf1. 7." + claim + ".1", "name"},
        {"hf1." + std::string(512, '7') + "." + claim + ".1", "name"},
        {"hf1.78", "claim"},
        {"hf1.78.", "claim"},
        {"hf1.78." + claim.substr(1) + ".1", "claim"},
        {"hf1.78." + claim + "0.1", "claim"},
        {"hf1.78.x" + claim.substr(1) + ".1", "claim"},
        {"hf1.78." + claim.substr(1) + "-.1", "claim"},
        {"hf1.78." + claim, "token"},
        {"hf1.78." + claim + ".", "token"},
        {"hf1.78." + claim + ".0", "token"},
        {"hf1.78." + claim + ".-1", "token"},
        {"hf1.78." + claim + ".+1", "token"},
        {"hf1.78." + claim + ".1 ", "token"},
        {"hf1.78." + claim + ".1.2", "token"},
        {"hf1.78." + claim + ".0x1", "token"},
        {"hf1.78." + claim + ".18446744073709551616", "token"}};
    for (const auto& [text, part] : cases) {
        const auto read = parse_ticket(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code, errc::invalid_argument);
        EXPECT_NE(read.error().detail.find(part), std::string::npos)
            << text << ": " << read.error().detail;
    }
}

}  // namespace
}  // namespace holdfast::core
