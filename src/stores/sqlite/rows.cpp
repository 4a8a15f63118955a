#include "stores/sqlite/rows.hpp"

#include <algorithm>

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

std::vector<const hold_row*> outside_row(const std::vector<hold_row>& holds,
                                         const std::optional<claim_id>& in_row) {
    std::vector<const hold_row*> others;
    for (const auto& hold : holds) {
        if (hold.claim != in_row) others.push_back(&hold);
    }
    return others;
}

}  // namespace

void name_rows::load(database& from, std::string_view name) {
    *this = {};
    std::int64_t holds = 0;
    std::int64_t waiters = 0;
    {
        running row{prepared(from, query::find_lock)};
        row->bind_blob(1, name);
        if (!row->step()) return;
        holds = row->number(4);
        waiters = row->number(5);
        read_lock(*row);
    }
    if (holds != 0) read_holds(from, holds);
    if (waiters != 0) read_waiters(from);
    before_ = now_;
}

void name_rows::read_lock(statement& row) {
    id_ = row.number(0);
    now_.what = as<kind>(row, 1);
    now_.capacity = count_in(row, 2);
    now_.token = token_in(row, 3);
    since_ = row.time(6);
    if (row.null(7)) return;
    in_row_ = row.id(7);
    now_.holds.push_back({.claim = *in_row_,
                          .client = row.id(8),
                          .bound = row.number(9) != 0,
                          .how = as<access>(row, 10),
                          .permits = count_in(row, 11),
                          .token = token_in(row, 12),
                          .tokens = count_in(row, 13),
                          .granted = since_,
                          .expires = row.time(14),
                          .owner = std::string(row.bytes(15))});
}

void name_rows::read_holds(database& from, std::int64_t count) {
    now_.holds.reserve(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)) + 2);
    running row{prepared(from, query::holds_of)};
    row->bind(1, *id_);
    while (row->step()) {
        now_.holds.push_back({.claim = row->id(1),
                              .client = row->id(2),
                              .bound = row->number(3) != 0,
                              .how = as<access>(*row, 4),
                              .permits = count_in(*row, 5),
                              .token = token_in(*row, 0),
                              .tokens = count_in(*row, 6),
                              .granted = row->time(7),
                              .expires = row->time(8),
                              .owner = std::string(row->bytes(9))});
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
                                .called = {},
                                .owner = std::string(row->bytes(9))});
        if (!row->null(8)) now_.waiters.back().called = row->time(8);
    }
}

// A hold stays where it is. The place in the row, if it is free, goes to a new one.
const hold_row* name_rows::choose_in_row() const {
    const auto where = [](const std::vector<hold_row>& holds, const claim_id& id) {
        return std::ranges::find(holds, id, &hold_row::claim);
    };
    if (in_row_) {
        const auto found = where(now_.holds, *in_row_);
        if (found != now_.holds.end()) return &*found;
    }
    for (const auto& hold : now_.holds) {
        if (where(before_.holds, hold.claim) == before_.holds.end()) return &hold;
    }
    return nullptr;
}

bool name_rows::same_lock(const hold_row* in_row) const {
    if (!id_ || in_row_.has_value() != (in_row != nullptr)) return false;
    if (before_.what != now_.what || before_.capacity != now_.capacity ||
        before_.token != now_.token || before_.holds.size() != now_.holds.size() ||
        before_.waiters.size() != now_.waiters.size()) {
        return false;
    }
    return in_row == nullptr ||
           *in_row == *std::ranges::find(before_.holds, *in_row_, &hold_row::claim);
}

bool name_rows::store(database& to, std::string_view name, time_point now) {
    const hold_row* in_row = choose_in_row();
    bool changed = false;
    if (!same_lock(in_row)) {
        // A name that was asked for but never granted leaves nothing behind.
        if (!id_ && now_.holds.empty() && now_.waiters.empty() && now_.token == fencing_token{}) {
            return false;
        }
        write_lock(to, name, now, in_row);
        changed = true;
    }
    if (write_holds(to, in_row)) changed = true;
    if (write_waiters(to)) changed = true;
    return changed;
}

void name_rows::write_lock(database& to, std::string_view name, time_point now,
                           const hold_row* in_row) {
    running row{prepared(to, id_ ? query::update_lock : query::insert_lock)};
    const auto others = now_.holds.size() - (in_row != nullptr ? 1 : 0);
    row->bind(1, stored(now_.what))
        .bind(2, now_.capacity)
        .bind(3, stored(now_.token))
        .bind(4, static_cast<std::int64_t>(others))
        .bind(5, static_cast<std::int64_t>(now_.waiters.size()))
        .bind(6, in_row != nullptr ? in_row->granted : now);
    if (in_row != nullptr) {
        row->bind(7, in_row->claim)
            .bind(8, in_row->client)
            .bind(9, in_row->bound ? 1 : 0)
            .bind(10, stored(in_row->how))
            .bind(11, in_row->permits)
            .bind(12, stored(in_row->token))
            .bind(13, in_row->tokens)
            .bind(14, in_row->expires)
            .bind_text(15, in_row->owner);
    } else {
        for (int place = 7; place <= 15; ++place) row->bind_null(place);
    }
    id_ ? row->bind(16, *id_) : row->bind_blob(16, name);
    row->step();
    if (!id_) id_ = to.last_id();
}

bool name_rows::write_holds(database& to, const hold_row* in_row) {
    const auto claim = in_row != nullptr ? std::optional{in_row->claim} : std::nullopt;
    const auto before = outside_row(before_.holds, in_row_);
    const auto now = outside_row(now_.holds, claim);
    if (before.empty() && now.empty()) return false;
    return write_differences(
        before, now, [](const hold_row& hold) { return hold.token; },
        [&](const hold_row& hold) {
            running row{prepared(to, query::drop_hold)};
            row->bind(1, *id_).bind(2, stored(hold.token)).step();
        },
        [&](const hold_row& hold) {
            running row{prepared(to, query::put_hold)};
            row->bind(1, *id_)
                .bind(2, stored(hold.token))
                .bind(3, hold.claim)
                .bind(4, hold.client)
                .bind(5, hold.bound ? 1 : 0)
                .bind(6, stored(hold.how))
                .bind(7, hold.permits)
                .bind(8, hold.tokens)
                .bind(9, hold.granted)
                .bind(10, hold.expires)
                .bind_text(11, hold.owner)
                .step();
        });
}

bool name_rows::write_waiters(database& to) {
    if (before_.waiters.empty() && now_.waiters.empty()) return false;
    std::vector<const waiter_row*> before;
    std::vector<const waiter_row*> now;
    for (const auto& waiter : before_.waiters) before.push_back(&waiter);
    for (const auto& waiter : now_.waiters) now.push_back(&waiter);
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
            waiter.called ? row->bind(10, *waiter.called) : row->bind_null(10);
            row->bind_text(11, waiter.owner).step();
        });
}

}  // namespace holdfast::sqlite
