#include "stores/sqlite/rows.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "stores/sqlite/packed.hpp"
#include "stores/sqlite/schema.hpp"

namespace holdfast::sqlite {
namespace {

using lease_table::hold_row;
using lease_table::waiter_row;

template <class Enum>
Enum as(const statement& row, int column) {
    return static_cast<Enum>(row.number(column));
}

std::uint32_t count_in(const statement& row, int column) {
    return static_cast<std::uint32_t>(row.number(column));
}

template <class Enum>
std::int64_t stored(Enum value) {
    return static_cast<std::int64_t>(value);
}

std::int64_t stored(fencing_token token) {
    return static_cast<std::int64_t>(token.value());
}

fencing_token token_in(const statement& row, int column) {
    return fencing_token{static_cast<std::uint64_t>(row.number(column))};
}

// Walks two lists that are in the order of their keys: drops what is missing from the second,
// puts what is new or different in it. True if there was anything.
template <class Row, class Key, class Drop, class Put>
bool write_differences(const std::vector<const Row*>& before, const std::vector<const Row*>& now,
                       Key key, Drop drop, Put put) {
    bool any = false;
    auto old = before.begin();
    for (const Row* row : now) {
        for (; old != before.end() && key(**old) < key(*row); ++old) drop(**old), any = true;
        const bool known = old != before.end() && key(**old) == key(*row);
        if (!known || !(**old == *row)) put(*row), any = true;
        if (known) ++old;
    }
    for (; old != before.end(); ++old) drop(**old), any = true;
    return any;
}

template <class Row>
const Row* find(const std::vector<Row>& rows, const std::optional<claim_id>& claim) {
    const auto found = std::ranges::find(rows, claim, &Row::claim);
    return found == rows.end() ? nullptr : &*found;
}

template <class Row>
std::vector<const Row*> all_but(const Row* in_row, const std::vector<Row>& rows) {
    std::vector<const Row*> others;
    for (const auto& row : rows) {
        if (&row != in_row) others.push_back(&row);
    }
    return others;
}

// What lies in the row of the lock stays there. The place, if it is free, goes to a new one.
template <class Row>
const Row* choose_in_row(const std::optional<claim_id>& in_row, const std::vector<Row>& before,
                         const std::vector<Row>& now) {
    if (const Row* stays = find(now, in_row)) return stays;
    const auto added = std::ranges::find_if(
        now, [&](const Row& row) { return find(before, row.claim) == nullptr; });
    return added == now.end() ? nullptr : &*added;
}

template <class Row>
bool same(const Row* before, const Row* now) {
    return before == nullptr || now == nullptr ? before == now : *before == *now;
}

template <class Row>
std::int64_t others(const std::vector<Row>& rows, const Row* in_row) {
    return static_cast<std::int64_t>(rows.size()) - (in_row != nullptr ? 1 : 0);
}

template <class Row>
std::optional<claim_id> claim_of(const Row* row) {
    return row == nullptr ? std::nullopt : std::optional{row->claim};
}

void bind_client(statement& row, int place, const hold_row& hold) {
    hold.bound ? row.bind(place, hold.client) : row.bind_null(place);
}

// A time that may be none.
std::optional<time_point> time_in(const statement& row, int column) {
    return row.null(column) ? std::nullopt : std::optional{row.time(column)};
}

void bind_time(statement& row, int place, const std::optional<time_point>& time) {
    time ? row.bind(place, *time) : row.bind_null(place);
}

void read_holding(std::string_view all, hold_row& hold) {
    const unpacked<4> from{all};
    hold.how = static_cast<access>(from.numbers[0]);
    hold.permits = static_cast<std::uint32_t>(from.numbers[1]);
    hold.tokens = static_cast<std::uint32_t>(from.numbers[2]);
    hold.granted = time_point{duration{from.numbers[3]}};
    hold.owner = from.text;
}

std::string packed_waiting(const waiter_row& waiter) {
    const auto rest = packed(
        std::array<std::int64_t, 5>{static_cast<std::int64_t>(waiter.ticket), stored(waiter.how),
                                    stored(waiter.next), std::int64_t{waiter.permits},
                                    waiter.since.time_since_epoch().count()},
        waiter.owner);
    return packed_waiter{waiter.called ? waiter.called->time_since_epoch().count() : 0,
                         waiter.expires.time_since_epoch().count(), waiter.client, rest}
        .text();
}

void read_waiting(std::string_view all, waiter_row& waiter) {
    const auto first = packed_waiter::from(all);
    if (first.called != 0) waiter.called = time_point{duration{first.called}};
    waiter.expires = time_point{duration{first.expires}};
    waiter.client = first.client;
    const unpacked<5> from{first.rest};
    waiter.ticket = static_cast<std::uint64_t>(from.numbers[0]);
    waiter.how = static_cast<access>(from.numbers[1]);
    waiter.next = static_cast<order>(from.numbers[2]);
    waiter.permits = static_cast<std::uint32_t>(from.numbers[3]);
    waiter.since = time_point{duration{from.numbers[4]}};
    waiter.owner = from.text;
}

}  // namespace

std::size_t row_places::index(std::string_view name) noexcept {
    return std::hash<std::string_view>{}(name) % std::tuple_size_v<decltype(places_)>;
}

std::optional<std::int64_t> row_places::find(std::string_view name) const {
    const auto& [known, row] = places_[index(name)];
    return known == name ? std::optional{row} : std::nullopt;
}

void row_places::remember(std::string_view name, std::int64_t row) {
    places_[index(name)] = {std::string(name), row};
}

std::string packed_holding(access how, std::uint32_t permits, std::uint32_t tokens,
                           time_point granted, std::string_view owner) {
    return packed(
        std::array<std::int64_t, 4>{stored(how), std::int64_t{permits}, std::int64_t{tokens},
                                    granted.time_since_epoch().count()},
        owner);
}

void name_rows::load(database& from, std::string_view name) {
    *this = {};
    std::int64_t others = 0;
    {
        running row{prepared(from, query::find_lock)};
        row->bind_blob(1, name);
        if (!row->step()) return;
        others = row->number(3);
        read_lock(*row);
    }
    if (others != 0) {
        read_holds(from, others);
        read_waiters(from);
    }
    before_ = now_;
}

void name_rows::read_lock(statement& row) {
    id_ = row.number(0);
    now_.what = kind_in(row.number(1));
    now_.capacity = capacity_in(row.number(1));
    now_.token = token_in(row, 2);
    if (!row.null(9)) {
        waiter_in_row_ = row.id(9);
        now_.waiters.push_back({.claim = *waiter_in_row_});
        read_waiting(row.bytes(10), now_.waiters.back());
    }
    if (row.null(4)) return;
    hold_in_row_ = row.id(4);
    now_.holds.push_back({.claim = *hold_in_row_,
                          .client = row.id(5),
                          .bound = !row.null(5),
                          .token = token_in(row, 6),
                          .expires = row.time(7)});
    read_holding(row.bytes(8), now_.holds.back());
}

void name_rows::read_holds(database& from, std::int64_t count_max) {
    now_.holds.reserve(static_cast<std::size_t>(std::max<std::int64_t>(count_max, 0)) + 2);
    running row{prepared(from, query::holds_of)};
    row->bind(1, *id_);
    while (row->step()) {
        now_.holds.push_back({.claim = row->id(1),
                              .client = row->id(2),
                              .bound = !row->null(2),
                              .how = as<access>(*row, 3),
                              .permits = count_in(*row, 4),
                              .token = token_in(*row, 0),
                              .tokens = count_in(*row, 5),
                              .granted = row->time(6),
                              .expires = row->time(7),
                              .owner = std::string(row->bytes(8))});
    }
    // The order of the grants, wherever the rows lie.
    std::ranges::sort(now_.holds, {}, &hold_row::token);
}

void name_rows::read_waiters(database& from) {
    running row{prepared(from, query::waiters_of)};
    row->bind(1, *id_);
    while (row->step()) {
        now_.waiters.push_back({.ticket = static_cast<std::uint64_t>(row->number(0)),
                                .claim = row->id(1),
                                .client = row->id(2),
                                .how = as<access>(*row, 3),
                                .next = as<order>(*row, 4),
                                .permits = count_in(*row, 5),
                                .since = row->time(6),
                                .expires = row->time(7),
                                .called = time_in(*row, 8),
                                .owner = std::string(row->bytes(9))});
    }
    std::ranges::sort(now_.waiters, {}, &waiter_row::ticket);
}

bool name_rows::same_lock(row_content in_row) const {
    return id_ && before_.what == now_.what && before_.capacity == now_.capacity &&
           before_.token == now_.token && before_.holds.size() == now_.holds.size() &&
           before_.waiters.size() == now_.waiters.size() &&
           same(find(before_.holds, hold_in_row_), in_row.hold) &&
           same(find(before_.waiters, waiter_in_row_), in_row.waiter);
}

bool name_rows::store(database& to, std::string_view name, time_point now) {
    const row_content in_row{choose_in_row(hold_in_row_, before_.holds, now_.holds),
                             choose_in_row(waiter_in_row_, before_.waiters, now_.waiters)};
    bool changed = false;
    if (!same_lock(in_row)) {
        // A name that was asked for but never granted leaves nothing behind.
        if (!id_ && now_.holds.empty() && now_.waiters.empty() && now_.token == fencing_token{}) {
            return false;
        }
        write_lock(to, name, now, in_row);
        changed = true;
    }
    if (write_holds(to, in_row.hold)) changed = true;
    if (write_waiters(to, in_row.waiter)) changed = true;
    waiter_in_row_ = claim_of(in_row.waiter);
    return changed;
}

void name_rows::write_lock(database& to, std::string_view name, time_point now,
                           row_content in_row) {
    const auto& [hold, waiter] = in_row;
    running row{prepared(to, id_ ? query::update_lock : query::insert_lock)};
    row->bind(1, rules_of(now_.what, now_.capacity))
        .bind(2, stored(now_.token))
        .bind(3, others(now_.holds, hold) + others(now_.waiters, waiter))
        .bind(7, hold != nullptr ? hold->expires : now);
    std::string holding;
    if (hold != nullptr) {
        holding =
            packed_holding(hold->how, hold->permits, hold->tokens, hold->granted, hold->owner);
        row->bind(4, hold->claim).bind(6, stored(hold->token)).bind_text(8, holding);
        bind_client(*row, 5, *hold);
    } else {
        for (const int place : {4, 5, 6, 8}) row->bind_null(place);
    }
    std::string waiting;
    if (waiter != nullptr) {
        waiting = packed_waiting(*waiter);
        row->bind(9, waiter->claim).bind_text(10, waiting);
    } else {
        row->bind_null(9).bind_null(10);
    }
    id_ ? row->bind(11, *id_) : row->bind_blob(11, name);
    row->step();
    if (!id_) id_ = to.last_id();
}

bool name_rows::write_holds(database& to, const hold_row* in_row) {
    const auto before = all_but(find(before_.holds, hold_in_row_), before_.holds);
    const auto now = all_but(in_row, now_.holds);
    if (before.empty() && now.empty()) return false;
    return write_differences(
        before, now, [](const hold_row& hold) { return hold.token; },
        [&](const hold_row& hold) {
            running row{prepared(to, query::drop_hold)};
            row->bind(1, *id_).bind(2, stored(hold.token)).step();
        },
        [&](const hold_row& hold) {
            running row{prepared(to, query::put_hold)};
            row->bind(1, *id_).bind(2, stored(hold.token)).bind(3, hold.claim);
            bind_client(*row, 4, hold);
            row->bind(5, stored(hold.how))
                .bind(6, hold.permits)
                .bind(7, hold.tokens)
                .bind(8, hold.granted)
                .bind(9, hold.expires)
                .bind_text(10, hold.owner)
                .step();
        });
}

bool name_rows::write_waiters(database& to, const waiter_row* in_row) {
    const auto before = all_but(find(before_.waiters, waiter_in_row_), before_.waiters);
    const auto now = all_but(in_row, now_.waiters);
    if (before.empty() && now.empty()) return false;
    return write_differences(
        before, now, [](const waiter_row& waiter) { return waiter.ticket; },
        [&](const waiter_row& waiter) {
            running row{prepared(to, query::drop_waiter)};
            row->bind(1, *id_).bind(2, static_cast<std::int64_t>(waiter.ticket)).step();
        },
        [&](const waiter_row& waiter) {
            running row{prepared(to, query::put_waiter)};
            row->bind(1, *id_)
                .bind(2, static_cast<std::int64_t>(waiter.ticket))
                .bind(3, waiter.claim)
                .bind(4, waiter.client)
                .bind(5, stored(waiter.how))
                .bind(6, stored(waiter.next))
                .bind(7, waiter.permits)
                .bind(8, waiter.since)
                .bind(9, waiter.expires);
            bind_time(*row, 10, waiter.called);
            row->bind_text(11, waiter.owner).step();
        });
}

}  // namespace holdfast::sqlite
