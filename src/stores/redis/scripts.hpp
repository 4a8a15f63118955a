// What runs inside Redis: each script is one atomic step of the contract. Of a name:
//
//   NAME  of a mutex: hash, field of the claim -> 1, as Redisson's RLock; its ttl is the hold's.
//         of a shared mutex: hash, `mode` -> read or write, the claim's field, with `:write` for a
//         writer -> 1, as RReadWriteLock; {NAME}:FIELD:rwlock_timeout:1 has the ttl of a reader.
//         of a semaphore: free permits, as RPermitExpirableSemaphore; {NAME}:timeout is a sorted
//         set of 16 bytes for each permit that is held -> when it ends
//   holdfast_records:{NAME}           hash: field -> "first-token tokens since permits client
//                                     owner", what Redisson has no place for
//   holdfast_waiters:{NAME}           hash: field -> "since ends read|write permits owner"
//   redisson_lock_token:{NAME}        the newest token, as Redisson's RFencedLock
//   redisson_lock__channel:{NAME}, redisson_rwlock:{NAME}, redisson_sc:{NAME}
//                                     what Redisson publishes when something becomes free
//
// A new token is at least the server's clock in microseconds, so it rises also if the key was lost.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

enum class script : std::uint8_t {
    // KEYS: lock records token waiters, ARGV: field ttl tokens permits owner client read|write
    // waits
    // -> {1, first, tokens, remaining}, or {0, remaining, field and record of a holder}
    acquire,
    acquire_shared,   ///< and: barging
    acquire_permits,  ///< and channel; and: the claim's 16 bytes, capacity. Or {2, other capacity}
    probe,            ///< and channel. Granted, without a hold, if nobody has one of any kind
    // KEYS: lock records waiters channels...; ARGV: field, the claim's 16 bytes -> 1, or 0: not
    // held
    release,
    // KEYS: lock records ...; ARGV: client, then field bytes ttl token keep|attach|detach ...
    // -> for each: what remains, or {what remains, what is held, permits}, or renewal_*
    renew,
    // KEYS: lock records waiters channel; ARGV: field ttl -> as a line of renew
    downgrade,
    // KEYS: lock records token; ARGV: token -> {field, record, remaining}, or nil. Raises the
    // token.
    evict,
    // KEYS: lock records token waiters -> {time, newest token, what is held, capacity,
    // {field, record, remaining, what is held ...}, {field, waiter ...}}
    show,
    count
};

/// What is held, as the scripts say it.
inline constexpr std::int64_t held_mutex = 0;
inline constexpr std::int64_t held_write = 1;
inline constexpr std::int64_t held_read = 2;
inline constexpr std::int64_t held_permits = 3;

inline constexpr std::int64_t renewal_removed = -1;
inline constexpr std::int64_t renewal_taken_over = -2;

std::string_view text_of(script which);
/// The SHA-1 by which Redis knows it, in hexadecimal.
const std::string& digest_of(script which);
/// Runs it, if Redis knows it.
std::string command_of(script which, std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments);

}  // namespace holdfast::redis
