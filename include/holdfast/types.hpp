// The small strong types that every other header uses.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <holdfast/export.hpp>

namespace holdfast {

/// The clock of every deadline: CLOCK_BOOTTIME, which cannot be set and goes on while the machine
/// sleeps, so a lease that ended during a suspend is seen as ended at once.
struct HOLDFAST_EXPORT boot_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};
using time_point = boot_clock::time_point;

/// All durations. Sub-millisecond values are accepted wherever a store can keep them.
using duration = boot_clock::duration;

/// As a wait: no end. As `hold_max`: no limit.
inline constexpr duration forever = duration::max();

/// The fencing token of a grant: rises strictly per name with every grant. Give it to the resource
/// and let the resource refuse anything older than the newest it has seen. Zero is never granted.
class fencing_token {
  public:
    constexpr fencing_token() noexcept = default;
    constexpr explicit fencing_token(std::uint64_t value) noexcept : value_(value) {}
    constexpr std::uint64_t value() const noexcept { return value_; }
    friend constexpr auto operator<=>(fencing_token, fencing_token) noexcept = default;

  private:
    std::uint64_t value_ = 0;
};

/// 128 random bits that name one request for a hold (a claim), or one client. Made by the library
/// from the kernel's random source; never reused, also not after fork.
struct unique_id {
    std::array<std::uint64_t, 2> words{};
    friend constexpr auto operator<=>(const unique_id&, const unique_id&) noexcept = default;
};
using claim_id = unique_id;
using client_id = unique_id;

/// 32 lower-case hexadecimal digits.
HOLDFAST_EXPORT std::string to_string(const unique_id& id);

/// What a lock name is used for. Mutex and shared mutex of one name exclude each other where the
/// store's layout allows it (memory and SQLite do); a semaphore of that name is refused meanwhile.
enum class kind : std::uint8_t { mutex, shared_mutex, semaphore };

/// How a claim holds: alone, or together with other shared holds.
enum class access : std::uint8_t { exclusive, shared };

/// Who is next when a hold becomes free.
enum class order : std::uint8_t {
    standard,  ///< Waiters in the order of their arrival where the store keeps one; a process may
               ///< pass a hold on between its own threads a bounded number of times first.
    fair,      ///< As standard, but a process never passes a hold on past another one's waiters.
    barging,   ///< Whoever asks first gets it, also past waiters: more throughput, may starve.
};

/// Who keeps a lease alive.
enum class renewal : std::uint8_t {
    automatic,  ///< The client prolongs it ("watchdog") until it is released or lost.
    manual,     ///< It ends after its ttl unless `lease::renew` is called: a fixed lease.
};

/// Why a lease is gone. `none` while it is held and after an ordinary release.
enum class loss_reason : std::uint8_t {
    none,
    expired,     ///< its time ran out: not renewed in time, or a fixed lease that reached its end
    taken_over,  ///< the store says that somebody else has it
    removed,     ///< the store has no such hold: broken by an operator, or the store lost its data
    session_gone,  ///< the session or connection that carried it ended
    unreachable,   ///< the store could not be asked before the local deadline
    hold_max,      ///< held for as long as `acquire_options::hold_max` allows
    shut_down,     ///< the client was shut down
};

/// One or two words for people, for example "taken over".
HOLDFAST_EXPORT const char* to_string(loss_reason reason) noexcept;
HOLDFAST_EXPORT const char* to_string(kind what) noexcept;
HOLDFAST_EXPORT const char* to_string(access how) noexcept;

/// The longest name, in bytes. The same on every store.
inline constexpr std::size_t name_bytes_max = 255;

}  // namespace holdfast

template <>
struct std::hash<holdfast::unique_id> {
    std::size_t operator()(const holdfast::unique_id& id) const noexcept { return id.words[0]; }
};
