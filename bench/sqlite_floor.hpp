// SQLite without us, set up as the store sets it up: what a lock in a database must cost at least.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "baton.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::bench {

/// A database with numbered rows. Failures throw.
class raw_sqlite {
  public:
    /// Makes the file if there is none.
    explicit raw_sqlite(const std::string& path);
    /// One write transaction: one row.
    void update();
    /// Adds rows with these keys, then forgets them.
    void fill(std::size_t count, const std::function<std::string(std::size_t)>& key_of);
    /// All rows that were filled in, in transactions of that many; the processor seconds.
    double update_all(std::size_t at_once);

  private:
    struct closer {
        void operator()(sqlite3* it) const noexcept;
        void operator()(sqlite3_stmt* it) const noexcept;
    };
    using statement = std::unique_ptr<sqlite3_stmt, closer>;
    statement prepare(const char* sql);
    void execute(const char* sql);
    void step(const statement& what);
    void update_key(std::size_t number);

    std::unique_ptr<sqlite3, closer> database_;
    statement update_;
    statement prolong_;
    std::vector<std::string> keys_;
    std::int64_t now_ = 0;
};

/// How many write transactions a database in WAL mode has committed, from the header of its
/// wal-index (sqlite.org/walformat.html, "iChange"). Only for processes that have not got the
/// database open: closing the file again drops SQLite's own locks.
double transactions_of(const std::string& path);

}  // namespace holdfast::bench
