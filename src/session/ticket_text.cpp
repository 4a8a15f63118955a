#include "session/ticket_text.hpp"

#include <charconv>
#include <optional>

namespace holdfast::core {
namespace {

constexpr std::string_view version = "hf1";

std::string hex(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

template <class Number>
bool read(std::string_view text, Number& into, int base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::optional<std::string> unhex(std::string_view text) {
    if (text.size() % 2 != 0 || text.size() > 2 * name_bytes_max) return {};
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        std::uint8_t byte = 0;
        if (!read(text.substr(i, 2), byte, 16)) return {};
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

std::string_view next_part(std::string_view& rest) {
    const auto dot = rest.find('.');
    const auto part = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    return part;
}

failure no_ticket(const char* part) {
    return {.code = errc::invalid_argument,
            .detail = std::string("not a ticket: its ") + part + " is wrong"};
}

}  // namespace

ticket write_ticket(const ticket_content& what) {
    return {std::string(version) + "." + hex(what.name) + "." + to_string(what.claim) + "." +
            std::to_string(what.token.value())};
}

result<ticket_content> parse_ticket(std::string_view text) {
    ticket_content content;
    if (next_part(text) != version) return no_ticket("version");
    const auto name = unhex(next_part(text));
    if (!name || name->empty()) return no_ticket("name");
    content.name = *name;
    const auto claim = next_part(text);
    if (claim.size() != 32 || !read(claim.substr(0, 16), content.claim.words[0], 16) ||
        !read(claim.substr(16), content.claim.words[1], 16)) {
        return no_ticket("claim");
    }
    std::uint64_t token = 0;
    if (!read(text, token, 10) || token == 0) return no_ticket("token");
    content.token = fencing_token{token};
    return content;
}

}  // namespace holdfast::core
