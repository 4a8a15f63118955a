#include "duration.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "text.hpp"

namespace holdfast::cli {
namespace {

struct unit {
    std::string_view name;
    std::int64_t nanoseconds;
};

constexpr std::int64_t second = 1'000'000'000;
// From long to short. A shorter name that begins a longer one ("m", "ms") is told apart by reading
// all letters that follow the number.
constexpr std::array<unit, 7> units{{{"d", 86'400 * second},
                                     {"h", 3'600 * second},
                                     {"m", 60 * second},
                                     {"s", second},
                                     {"ms", 1'000'000},
                                     {"us", 1'000},
                                     {"ns", 1}}};
constexpr std::size_t seconds_unit = 3;
// Less than `forever`, which is the largest value of all.
constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max() - 1;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Where the reading stands. Every step either moves on or says why not.
class reader {
  public:
    explicit reader(std::string_view text) : text_(text) {}

    std::variant<duration, duration_error> read() {
        if (text_.empty()) return fail(0, "it is empty");
        if (text_ == "inf" || text_ == "forever") return forever;
        if (text_[0] == '-') return fail(0, "it is negative");
        while (at_ < text_.size()) {
            if (!read_part()) return error_;
        }
        return duration{total_};
    }

  private:
    duration_error fail(std::size_t position, std::string reason) {
        error_ = {position, std::move(reason)};
        return error_;
    }
    bool refuse(std::size_t position, std::string reason) {
        fail(position, std::move(reason));
        return false;
    }

    std::string_view take(bool (*wanted)(char)) {
        const std::size_t from = at_;
        while (at_ < text_.size() && wanted(text_[at_])) ++at_;
        return text_.substr(from, at_ - from);
    }

    /// A number with its unit.
    bool read_part() {
        const std::size_t start = at_;
        const std::string_view whole = take(is_digit);
        std::string_view fraction;
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            fraction = take(is_digit);
            if (fraction.empty()) return refuse(at_, "digits are missing after the point");
        }
        if (whole.empty()) return refuse(start, "a number is missing");
        std::size_t which = 0;
        return read_unit(start, which) && add(start, whole, fraction, units.at(which));
    }

    bool read_unit(std::size_t number, std::size_t& which) {
        const std::size_t start = at_;
        const std::string_view name = take(is_letter);
        if (name.empty() && at_ == text_.size() && number == 0) {
            which = seconds_unit;
            return true;
        }
        if (name.empty()) return refuse(start, "a unit is missing");
        while (which < units.size() && units.at(which).name != name) ++which;
        if (which == units.size()) return refuse(start, fmt::format("there is no unit '{}'", name));
        if (which < next_unit_) {
            return refuse(start, "units go from long to short, each at most once");
        }
        next_unit_ = which + 1;
        return true;
    }

    bool add(std::size_t start, std::string_view whole, std::string_view fraction, const unit& of) {
        std::int64_t count = 0;
        for (const char digit : whole) {
            if (__builtin_mul_overflow(count, 10, &count) ||
                __builtin_add_overflow(count, digit - '0', &count)) {
                return refuse(start, "it is too long");
            }
        }
        std::int64_t part = 0;
        if (__builtin_mul_overflow(count, of.nanoseconds, &part)) {
            return refuse(start, "it is too long");
        }
        std::int64_t rest = 0;
        if (!read_fraction(fraction, of.nanoseconds, rest)) {
            return refuse(start, "it is finer than a nanosecond");
        }
        if (__builtin_add_overflow(total_, part, &total_) ||
            __builtin_add_overflow(total_, rest, &total_) || total_ > longest) {
            return refuse(start, "it is too long");
        }
        return true;
    }

    /// The part of a unit that `digits` after the point stand for; false if it is not whole.
    static bool read_fraction(std::string_view digits, std::int64_t whole_unit,
                              std::int64_t& value) {
        while (!digits.empty() && digits.back() == '0') digits.remove_suffix(1);
        // A day is 2^16 * 3^3 * 5^11 ns: no digit past the sixteenth leaves whole nanoseconds.
        if (digits.size() > 16) return false;
        std::int64_t numerator = 0;
        std::int64_t denominator = 1;
        for (const char digit : digits) {
            numerator = numerator * 10 + (digit - '0');
            denominator *= 10;
        }
        // numerator / denominator of the unit, in two steps that cannot overflow 64 bits.
        const std::int64_t common = std::gcd(denominator, whole_unit);
        denominator /= common;
        if (numerator % denominator != 0) return false;
        value = numerator / denominator * (whole_unit / common);
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t next_unit_ = 0;
    std::int64_t total_ = 0;
    duration_error error_;
};

}  // namespace

std::variant<duration, duration_error> parse_duration(std::string_view text) {
    return reader{text}.read();
}

std::string describe(std::string_view text, const duration_error& why) {
    return fmt::format(
        "'{}' is no duration: {} (at character {}); allowed: 1.5s, 200ms, 2m, 1h30m, a plain "
        "number "
        "of seconds, or forever",
        shown(text), why.reason, why.position + 1);
}

std::string format_duration(duration value) {
    using namespace std::chrono;
    if (value == forever) return "for ever";
    if (value < duration::zero()) value = duration::zero();
    const std::int64_t whole = duration_cast<seconds>(value).count();
    if (value < seconds{10}) {
        return fmt::format("{}.{} s", whole,
                           duration_cast<milliseconds>(value).count() % 1000 / 100);
    }
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3'600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    if (whole < 86'400) return fmt::format("{} h {} min", whole / 3'600, whole % 3'600 / 60);
    return fmt::format("{} d {} h", whole / 86'400, whole % 86'400 / 3'600);
}

}  // namespace holdfast::cli
