// One connection to one SQLite database: RAII around the C API, which is small and stable enough
// that a wrapper library would add a dependency and a second vocabulary, but no safety that these
// two classes lack; the wrappers in Debian also hide sqlite3_prepare_v3 and the extended codes.
//
// What goes wrong is thrown as database_error, inside this folder only: the store catches it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

#include "stores/lease_table/lease_table.hpp"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

namespace holdfast::sqlite {

class database_error : public std::exception {
  public:
    explicit database_error(failure why) noexcept : why_(std::move(why)) {}
    const char* what() const noexcept override { return why_.detail.c_str(); }
    const failure& why() const noexcept { return why_; }

  private:
    failure why_;
};

/// What a failed call means for the caller. `committing`: the call could have made a change last.
errc code_of_sqlite(int extended_code, bool committing) noexcept;

/// A prepared statement. Bound text and blobs are not copied: they must live until reset().
class statement {
  public:
    statement(sqlite3* database, std::string_view sql);
    ~statement();
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    statement& bind(int place, std::int64_t value);
    statement& bind(int place, const unique_id& value);
    statement& bind(int place, time_point value);
    statement& bind_blob(int place, std::string_view bytes);
    statement& bind_text(int place, std::string_view text);
    statement& bind_null(int place);
    statement& bind(int place, const std::optional<std::int64_t>& value) {
        return value ? bind(place, *value) : bind_null(place);
    }

    /// True: there is a row. Any failure resets the statement and throws.
    bool step();
    /// As step(), for a statement that is its own transaction: it may fail after its effect.
    bool step_alone();
    void reset() noexcept;

    std::int64_t number(int column) const noexcept;
    bool null(int column) const noexcept;
    unique_id id(int column) const noexcept;
    time_point time(int column) const noexcept;
    std::string_view bytes(int column) const noexcept;

  private:
    bool advance(bool committing);
    void check(int code);
    sqlite3* database_;
    sqlite3_stmt* statement_ = nullptr;
};

/// Resets a statement at the end of the scope, which also ends its read transaction.
class running {
  public:
    explicit running(statement& what) noexcept : what_(what) {}
    ~running() { what_.reset(); }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    statement* operator->() noexcept { return &what_; }
    statement& operator*() noexcept { return what_; }

  private:
    statement& what_;
};

/// Whether commits wait for the disk. A power loss ends all holds anyway, so `normal` is enough.
enum class durability : std::uint8_t { normal, full };

/// How long a statement waits for another process's transaction. Those take microseconds; a longer
/// wait means a stopped process or a disk that does not answer.
inline constexpr duration busy_max_default = std::chrono::seconds{5};

/// Not thread-safe, but for wants_tending(): guarded by the store's mutex.
class database {
  public:
    /// Opens an existing file; `offset` is that of this process's boot clock.
    database(const std::string& path, duration clock_offset, duration busy_max = busy_max_default);
    ~database();
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    const std::string& path() const noexcept { return path_; }
    /// The store's clock: CLOCK_BOOTTIME as the kernel itself counts it.
    time_point now() const noexcept;

    /// Statements by their place in a table of SQL texts, prepared when first used.
    statement& prepared(std::span<const std::string_view> texts, std::size_t which);
    /// For what is done rarely.
    statement once(std::string_view sql) { return {handle_, sql}; }
    void execute(const char* sql);
    std::int64_t number(const char* sql);
    std::string text(const char* sql);

    void begin_write();
    void begin_read();
    void commit();
    void rollback() noexcept;
    std::int64_t changes() const noexcept;
    std::int64_t last_id() const noexcept;

    /// Of the statement that just ran: what holdfast_note() was given.
    struct note {
        std::int64_t token;
        std::int64_t row;
    };
    const note& noted() const noexcept { return noted_; }
    /// Whom statements have called by holdfast_call() since this was last asked.
    std::optional<lease_table::wake> take_called() noexcept { return std::exchange(called_, {}); }

    /// True if the file at the path is no longer the one that is open.
    bool moved() noexcept;
    /// Moves what the journal holds into the database, if it has grown enough. Best effort.
    void tend() noexcept;
    /// May be asked by any thread at any time.
    bool wants_tending() const noexcept {
        return journal_pages_.load(std::memory_order_relaxed) >=
               tend_at_.load(std::memory_order_relaxed);
    }

    void set_durability(durability level);

    /// In a child that has inherited it: frees what SQLite remembers of it, and does nothing that
    /// the parent could notice. It must not be used afterwards.
    void close_in_child() noexcept;

  private:
    static int wait_while_busy(void* self, int count);
    static int count_journal(void* self, sqlite3* which, const char* schema, int pages);
    static void sql_note(sqlite3_context* context, int count, sqlite3_value** values);
    static void sql_waits(sqlite3_context* context, int count, sqlite3_value** values);
    static void sql_call(sqlite3_context* context, int count, sqlite3_value** values);
    bool pause(int count) noexcept;
    statement& own(std::unique_ptr<statement>& place, std::string_view sql);
    void register_functions();
    void drop_statements() noexcept;
    [[noreturn]] void fail(int code, bool committing);

    std::string path_;
    duration clock_offset_;
    duration busy_max_;
    sqlite3* handle_ = nullptr;
    std::vector<std::unique_ptr<statement>> statements_;
    std::unique_ptr<statement> begin_write_;
    std::unique_ptr<statement> begin_read_;
    std::unique_ptr<statement> commit_;
    note noted_{};
    std::optional<lease_table::wake> called_;
    std::atomic<int> journal_pages_{0};
    std::atomic<int> tend_at_;
    std::uint64_t jitter_;
    std::chrono::steady_clock::time_point busy_since_{};
};

/// A transaction that is rolled back unless it was committed.
class transaction {
  public:
    enum class mode : std::uint8_t { write, read };
    explicit transaction(database& on, mode how = mode::write);
    ~transaction();
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    void commit();

  private:
    database& on_;
    bool open_ = true;
};

}  // namespace holdfast::sqlite
