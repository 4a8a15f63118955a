// What the scripts write and answer, in words of ours.
#pragma once

#include <optional>
#include <string_view>

#include <holdfast/inspect.hpp>
#include <holdfast/store.hpp>

#include "stores/redis/reply.hpp"

namespace holdfast::redis {

/// A hash value of holdfast_records. Without one, of a hold that another library made, everything
/// is zero and the owner is its field.
struct record {
    std::uint64_t first = 0;
    std::uint32_t tokens = 0;
    std::int64_t since_us = 0;  ///< by the server's clock
    std::uint32_t permits = 1;
    std::string_view owner{};

    static record of(std::string_view field, std::string_view text);
};

/// A waiter must ask again at least this often (capabilities::poll_max).
inline constexpr duration poll_max = std::chrono::seconds{5};

/// What PTTL says.
duration remaining_of(std::int64_t pttl) noexcept;
/// For PEXPIRE: whole milliseconds, not less.
std::int64_t milliseconds_of(duration ttl) noexcept;

result<acquire_reply> read_acquire(const reply& answer);
renewal_reply read_renewal(const reply& answer);
result<lock_record> read_show(std::string_view name, const reply& answer);
holder_record holder_of(std::string_view field, std::string_view text, std::int64_t pttl,
                        std::int64_t now_us);

failure strange(std::string_view what);

}  // namespace holdfast::redis
