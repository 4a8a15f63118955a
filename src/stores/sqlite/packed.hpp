// Several values in one column: numbers, each followed by a space, and a text at the end. For what
// no statement looks at: every column of the row of a lock makes the usual lock and unlock slower,
// whether they change it or not.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <holdfast/types.hpp>

namespace holdfast::sqlite {

template <std::size_t Count>
std::string packed(const std::array<std::int64_t, Count>& numbers, std::string_view text) {
    constexpr std::size_t digits_max = std::numeric_limits<std::int64_t>::digits10 + 2;
    std::array<char, Count*(digits_max + 1)> buffer{};
    char* end = buffer.data();
    for (const auto number : numbers) {
        end = std::to_chars(end, end + digits_max, number).ptr;
        *end++ = ' ';
    }
    std::string all;
    all.reserve(static_cast<std::size_t>(end - buffer.data()) + text.size());
    all.append(buffer.data(), end).append(text);
    return all;
}

template <std::size_t Count>
struct unpacked {
    explicit unpacked(std::string_view all) : text(all) {
        for (auto& number : numbers) {
            const auto end = std::min(text.find(' '), text.size());
            std::from_chars(text.data(), text.data() + end, number);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }
    std::array<std::int64_t, Count> numbers{};
    std::string_view text;
};

/// What the row of a lock packs of its first waiter. Statements look into it by the functions
/// holdfast_waits() and holdfast_call().
struct packed_waiter {
    std::int64_t called = 0;  ///< when its turn came; 0: not yet
    std::int64_t expires = 0;
    unique_id client{};
    std::string_view rest{};

    static packed_waiter from(std::string_view all) {
        const unpacked<4> parts{all};
        const auto& [called, expires, client_0, client_1] = parts.numbers;
        return {called,
                expires,
                {{static_cast<std::uint64_t>(client_0), static_cast<std::uint64_t>(client_1)}},
                parts.text};
    }
    std::string text() const {
        return packed(
            std::array<std::int64_t, 4>{called, expires, static_cast<std::int64_t>(client.words[0]),
                                        static_cast<std::int64_t>(client.words[1])},
            rest);
    }
};

}  // namespace holdfast::sqlite
