// The tables of the SQLite store, how they are made and checked, and what a boot changes in them.
//
//   lock    one row per name ever used; one hold and one waiter lie in the row itself, so that the
//           usual lock, unlock and hand-over touch one row. A row stays after release, because its
//           token must.
//   hold    further holds of a name: readers and permits beyond the first
//   waiter  further queued claims; a queue is in the order of its tickets
//   meta    one row: the boot that the times belong to, the epoch and floor of the tokens
//   audit   who broke which hold
//
// Times are nanoseconds of the kernel's CLOCK_BOOTTIME. They mean nothing after a reboot: then
// the boot id differs, all holds are void, and the epoch, the upper part of every token, rises.
// That commit waits for the disk, so tokens never go back, although ordinary commits do not wait
// and a power loss may take the last of them: it also takes the boot.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/types.hpp>

#include "stores/sqlite/database.hpp"

namespace holdfast::sqlite {

/// "Hfst": tells our databases from those of other programs.
inline constexpr std::int64_t application_id = 0x48667374;
/// 1 was never released.
inline constexpr std::int64_t schema_version = 2;
/// The lower part of a token counts grants, the upper one epochs.
inline constexpr unsigned epoch_shift = 40;

/// All statements that are run often; their texts are beside the enumeration, in schema.cpp.
enum class query : std::uint8_t {
    find_lock,
    insert_lock,
    update_lock,
    grant_free,
    release_plain,
    renew_plain,
    holds_of,
    put_hold,
    drop_hold,
    waiters_of,
    put_waiter,
    drop_waiter,
    floor,
    idle_after,
    delete_lock,
    raise_floor,
    names_all,
    names_busy,
    add_audit,
    cut_audit,
    count
};

statement& prepared(database& on, query which);

/// What a name is, in one number: the kind in the two lowest bits, above it the capacity.
constexpr std::int64_t rules_of(kind what, std::uint32_t capacity) noexcept {
    return (std::int64_t{capacity} << 2U) | static_cast<std::int64_t>(what);
}
constexpr kind kind_in(std::int64_t rules) noexcept {
    return static_cast<kind>(rules & 3);
}
constexpr std::uint32_t capacity_in(std::int64_t rules) noexcept {
    return static_cast<std::uint32_t>(rules >> 2U);
}

/// What meta says after opening.
struct identity {
    std::uint64_t epoch = 0;
    std::string bells{};  ///< the name of the mark in the clients' directory; see bells.hpp
};

/// Makes the tables in an empty database, refuses foreign and newer ones, turns on the journal
/// that everything here relies on (WAL), and starts a new epoch after a reboot.
/// Throws database_error.
identity prepare_database(database& on, std::string_view boot, durability level);

/// Makes `epoch` the least epoch from now on, and waits for the disk.
void raise_epoch(database& on, std::uint64_t epoch, durability level);

/// From now on the clients' directory has this mark. What was bound to processes known by the old
/// one is bound to nothing but its ttl.
void replace_bells(database& on, std::string_view mark);
std::string bells(database& on);

constexpr std::uint64_t epoch_floor(std::uint64_t epoch) noexcept {
    return epoch << epoch_shift;
}
constexpr std::uint64_t epoch_of(fencing_token token) noexcept {
    return token.value() >> epoch_shift;
}

}  // namespace holdfast::sqlite
