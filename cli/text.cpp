#include "text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

/// One character of UTF-8 at the front: its length (0 if invalid) and its number.
struct character {
    std::size_t length = 0;
    std::uint32_t number = 0;
};

character decode(std::string_view text) {
    const unsigned char first = byte_at(text, 0);
    if (first < 0x80) return {1, first};
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
    std::uint32_t number = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte_at(text, i) & 0xC0U) != 0x80) return {};
        number = (number << 6U) | (byte_at(text, i) & 0x3FU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = number >= 0xD800 && number <= 0xDFFF;
    if (number < least.at(length) || surrogate || number > 0x10FFFF) return {};
    return {length, number};
}

struct range {
    std::uint32_t first;
    std::uint32_t last;
};

// Characters that move the cursor, change the direction of writing, or cannot be seen.
constexpr std::array<range, 14> harmful{{{0x00, 0x1F},
                                         {0x7F, 0x9F},
                                         {0xAD, 0xAD},
                                         {0x061C, 0x061C},
                                         {0x115F, 0x1160},
                                         {0x180E, 0x180E},
                                         {0x200B, 0x200F},
                                         {0x2028, 0x202E},
                                         {0x2060, 0x206F},
                                         {0x3164, 0x3164},
                                         {0xFE00, 0xFE0F},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFF0, 0xFFFF},
                                         {0xE0000, 0x10FFFF}}};

bool is_harmful(std::uint32_t number) {
    return std::any_of(harmful.begin(), harmful.end(), [number](const range& each) {
        return number >= each.first && number <= each.last;
    });
}

}  // namespace

std::string shown(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const character next = decode(bytes);
        const std::size_t length = std::max<std::size_t>(next.length, 1);
        if (next.number == '\\') {
            out += "\\\\";
        } else if (next.length == 0 || is_harmful(next.number)) {
            for (std::size_t i = 0; i < length; ++i) {
                fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(bytes, i));
            }
        } else {
            out += bytes.substr(0, length);
        }
        bytes.remove_prefix(length);
    }
    return out;
}

std::string to_hex(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() * 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        fmt::format_to(std::back_inserter(out), "{:02x}", byte_at(bytes, i));
    }
    return out;
}

std::optional<std::string> from_hex(std::string_view digits) {
    constexpr std::string_view lower = "0123456789abcdef";
    constexpr std::string_view upper = "0123456789ABCDEF";
    if (digits.size() % 2 != 0) return std::nullopt;
    std::string out;
    std::size_t value = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const std::size_t found = std::min(lower.find(digits[i]), upper.find(digits[i]));
        if (found == std::string_view::npos) return std::nullopt;
        value = value % 16 * 16 + found;
        if (i % 2 == 1) out += static_cast<char>(value);
    }
    return out;
}

std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
}

std::string_view cut(std::string_view text, std::size_t columns) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t next = at + 1;
        while (next < text.size() && (byte_at(text, next) & 0xC0U) == 0x80) ++next;
        if (columns-- == 0) break;
        at = next;
    }
    return text.substr(0, at);
}

painter::painter(int descriptor) {
    const char* refused = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    on_ = ::isatty(descriptor) == 1 && (refused == nullptr || *refused == '\0') &&
          (terminal == nullptr || std::string_view{terminal} != "dumb");
}

std::string painter::operator()(colour which, std::string_view text) const {
    if (!on_ || which == colour::plain) return std::string{text};
    constexpr std::array<int, 5> codes{0, 1, 31, 32, 33};
    return fmt::format("\x1b[{}m{}\x1b[0m", codes.at(static_cast<std::size_t>(which)), text);
}

}  // namespace holdfast::cli
