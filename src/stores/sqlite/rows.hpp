// The rows of one name: read into the form in which the rules of a lease table work on them, and
// written back as far as they differ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/lease_table/lease_table.hpp"
#include "stores/sqlite/database.hpp"

namespace holdfast::sqlite {

/// Where the rows of the names used last should be. They may have gone meanwhile.
class row_places {
  public:
    std::optional<std::int64_t> find(std::string_view name) const;
    void remember(std::string_view name, std::int64_t row);

  private:
    struct place {
        std::string name{};
        std::int64_t row = 0;
    };
    static std::size_t index(std::string_view name) noexcept;
    std::array<place, 256> places_;
};

/// What the row of a lock packs of its hold.
std::string packed_holding(access how, std::uint32_t permits, std::uint32_t tokens,
                           time_point granted, std::string_view owner);

/// Used within one transaction.
class name_rows {
  public:
    /// Reads everything of the name.
    void load(database& from, std::string_view name);
    /// What the rules change.
    lease_table::lock_rows& rows() noexcept { return now_; }
    /// False: the name was never used, or its row was pruned.
    bool exists() const noexcept { return id_.has_value(); }
    std::optional<std::int64_t> id() const noexcept { return id_; }
    /// Writes the differences. False: there were none.
    bool store(database& to, std::string_view name, time_point now);
    /// After store(): whether that waiter lies in the row of the lock.
    bool waits_in_row(const claim_id& claim) const noexcept { return waiter_in_row_ == claim; }

  private:
    /// What lies in the row of the lock itself.
    struct row_content {
        const lease_table::hold_row* hold;
        const lease_table::waiter_row* waiter;
    };

    void read_lock(statement& row);
    void read_holds(database& from, std::int64_t count_max);
    void read_waiters(database& from);
    void write_lock(database& to, std::string_view name, time_point now, row_content in_row);
    bool same_lock(row_content in_row) const;
    bool write_holds(database& to, const lease_table::hold_row* in_row);
    bool write_waiters(database& to, const lease_table::waiter_row* in_row);

    std::optional<std::int64_t> id_;
    std::optional<claim_id> hold_in_row_;
    std::optional<claim_id> waiter_in_row_;
    lease_table::lock_rows before_;
    lease_table::lock_rows now_;
};

}  // namespace holdfast::sqlite
