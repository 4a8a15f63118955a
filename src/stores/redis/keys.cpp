#include "stores/redis/keys.hpp"

#include <array>
#include <charconv>

namespace holdfast::redis {
namespace {

// 8-4-4-4-12 hexadecimal digits.
constexpr std::array<std::size_t, 4> dashes{8, 13, 18, 23};
constexpr std::size_t uuid_size = 36;
// Ours have one hold each, so the number tells nothing.
constexpr std::string_view thread_number = ":1";

}  // namespace

std::string with_prefix(std::string_view prefix, std::string_view name) {
    std::string key;
    key.reserve(prefix.size() + name.size() + 3);
    key.append(prefix).append(":");
    if (name.find('{') != std::string_view::npos) return key.append(name), key;
    key.append("{").append(name).append("}");
    return key;
}

std::string field_of(const claim_id& id) {
    std::string field = to_string(id);
    for (const auto at : dashes) field.insert(at, 1, '-');
    return field.append(thread_number), field;
}

std::string bytes_of(const claim_id& id) {
    std::string bytes;
    for (const auto word : id.words) {
        for (unsigned shift = 64; shift > 0; shift -= 8) {
            bytes += static_cast<char>(word >> (shift - 8) & 0xffU);
        }
    }
    return bytes;
}

claim_id claim_of(std::string_view field) noexcept {
    if (field.size() != uuid_size + thread_number.size() || !field.ends_with(thread_number))
        return {};
    std::array<char, 32> digits{};
    std::size_t count = 0;
    for (const char letter : field.substr(0, uuid_size)) {
        if (letter != '-' && count < digits.size()) digits[count++] = letter;
    }
    claim_id id;
    const char* from = digits.data();
    for (auto& word : id.words) {
        if (std::from_chars(from, from + 16, word, 16).ptr != from + 16) return {};
        from += 16;
    }
    return id;
}

}  // namespace holdfast::redis
