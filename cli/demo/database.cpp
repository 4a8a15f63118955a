#include "database.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <sqlite3.h>

namespace holdfast::cli::demo {
namespace {

constexpr int busy_wait_ms = 30'000;

constexpr const char* schema = R"(
PRAGMA journal_mode=WAL;
CREATE TABLE customer(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    phone TEXT NOT NULL,
    entered_by TEXT NOT NULL,
    token INTEGER NOT NULL);
CREATE TABLE stock(
    item TEXT PRIMARY KEY,
    pieces INTEGER NOT NULL,
    token INTEGER NOT NULL);
CREATE TABLE sale(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    item TEXT NOT NULL,
    sold_by TEXT NOT NULL,
    pieces_left INTEGER NOT NULL,
    token INTEGER NOT NULL);
)";

[[noreturn]] void fail(sqlite3* handle) {
    throw std::runtime_error(fmt::format("the demo's database: {}", sqlite3_errmsg(handle)));
}

void execute(sqlite3* handle, const char* sql) {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle);
}

/// Rolls back unless it was committed.
class transaction {
  public:
    explicit transaction(sqlite3* handle) : handle_(handle) { execute(handle_, "BEGIN IMMEDIATE"); }
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction() {
        if (sqlite3_get_autocommit(handle_) == 0) {
            sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
        }
    }
    void commit() { execute(handle_, "COMMIT"); }

  private:
    sqlite3* handle_;
};

}  // namespace

class database::statement {
  public:
    statement(sqlite3* handle, const char* sql) : handle_(handle) {
        if (sqlite3_prepare_v2(handle, sql, -1, &prepared_, nullptr) != SQLITE_OK) fail(handle);
    }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { sqlite3_finalize(prepared_); }

    statement& bind(std::int64_t value) {
        sqlite3_bind_int64(prepared_, ++bound_, value);
        return *this;
    }
    statement& bind(fencing_token token) { return bind(static_cast<std::int64_t>(token.value())); }
    statement& bind(std::string_view text) {
        // No destructor: the text outlives the statement.
        sqlite3_bind_text(prepared_, ++bound_, text.data(), static_cast<int>(text.size()), nullptr);
        return *this;
    }
    /// True if there is a row.
    bool step() {
        const int code = sqlite3_step(prepared_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) fail(handle_);
        return code == SQLITE_ROW;
    }
    std::int64_t number(int column) { return sqlite3_column_int64(prepared_, column); }

  private:
    sqlite3* handle_;
    sqlite3_stmt* prepared_ = nullptr;
    int bound_ = 0;
};

void database::closer::operator()(sqlite3* handle) const noexcept {
    sqlite3_close(handle);
}

void database::create(const std::string& path) {
    database fresh{path};
    execute(fresh.handle_.get(), schema);
    statement fill{fresh.handle_.get(), "INSERT INTO stock VALUES(?, ?, 0)"};
    fill.bind(item_name).bind(stock_at_start).step();
}

database::database(const std::string& path) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open(path.c_str(), &handle);
    handle_.reset(handle);
    if (code != SQLITE_OK) fail(handle);
    sqlite3_busy_timeout(handle, busy_wait_ms);
    // What is lost when the power fails is no loss here.
    execute(handle, "PRAGMA synchronous=NORMAL");
}

database::~database() = default;

reading database::look(experiment what) {
    // The number of writes comes with it, so that the demo can later tell what this read had
    // missed.
    statement query{handle_.get(),
                    what == experiment::phones
                        ? "SELECT count(*), (SELECT coalesce(max(id), 0) FROM customer)"
                          " FROM customer WHERE phone = ?"
                        : "SELECT pieces, (SELECT coalesce(max(id), 0) FROM sale)"
                          " FROM stock WHERE item = ?"};
    query.bind(what == experiment::phones ? phone_number : item_name);
    if (!query.step()) throw std::runtime_error("the demo's database has lost its stock");
    return {query.number(0), query.number(1)};
}

std::optional<std::int64_t> database::enter_number(std::string_view by, fencing_token token) {
    transaction writing{handle_.get()};
    statement insert{handle_.get(),
                     "INSERT INTO customer(phone, entered_by, token) SELECT ?, ?, ?3"
                     " WHERE ?3 >= (SELECT coalesce(max(token), 0) FROM customer)"};
    insert.bind(phone_number).bind(by).bind(token).step();
    if (sqlite3_changes(handle_.get()) == 0) return std::nullopt;
    const std::int64_t version = sqlite3_last_insert_rowid(handle_.get());
    writing.commit();
    return version;
}

std::optional<std::int64_t> database::sell(std::int64_t left, std::string_view by,
                                           fencing_token token) {
    transaction writing{handle_.get()};
    statement update{handle_.get(),
                     "UPDATE stock SET pieces = ?, token = ?2 WHERE item = ?3 AND token <= ?2"};
    update.bind(left).bind(token).bind(item_name).step();
    if (sqlite3_changes(handle_.get()) == 0) return std::nullopt;
    statement insert{handle_.get(),
                     "INSERT INTO sale(item, sold_by, pieces_left, token) VALUES(?, ?, ?, ?)"};
    insert.bind(item_name).bind(by).bind(left).bind(token).step();
    const std::int64_t version = sqlite3_last_insert_rowid(handle_.get());
    writing.commit();
    return version;
}

contents database::all() {
    statement query{handle_.get(),
                    "SELECT (SELECT count(*) FROM customer WHERE phone = ?),"
                    " (SELECT pieces FROM stock WHERE item = ?), (SELECT count(*) FROM sale)"};
    query.bind(phone_number).bind(item_name).step();
    return {query.number(0), query.number(1), query.number(2)};
}

}  // namespace holdfast::cli::demo
