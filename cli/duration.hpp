// Durations as people write them. Pure functions: no locale, no clock.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include <holdfast/types.hpp>

namespace holdfast::cli {

/// Why a text is no duration: `position` counts bytes from zero.
struct duration_error {
    std::size_t position = 0;
    std::string reason;
};

/// Reads `1.5s`, `200ms`, `2m`, `1h30m`, `inf` or `forever`, or a plain number of seconds. Units,
/// from long to short and each at most once: d h m s ms us ns. At most 290 years, no finer than a
/// nanosecond, never negative. `forever` is holdfast::forever.
std::variant<duration, duration_error> parse_duration(std::string_view text);

/// One line for people: what is wrong with `text`, where, and what is allowed.
std::string describe(std::string_view text, const duration_error& why);

/// For people: "0.3 s", "12 s", "3 min 5 s", "2 h 5 min", "4 d 1 h", "for ever".
std::string format_duration(duration value);

}  // namespace holdfast::cli
