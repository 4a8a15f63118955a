#include "stores/sqlite/database.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include <sqlite3.h>

#include "stores/sqlite/packed.hpp"
#include "support/random.hpp"

namespace holdfast::sqlite {
namespace {

// A checkpoint costs two flushes to the disk, so not too often. But SQLite finds a page in the
// journal by a hash with linear probing, which gets slow when one page is in there very often.
constexpr int journal_pages_max = 1000;
// Then readers are asked to let go, because the journal grows although it is copied back.
constexpr int journal_pages_alarm = 16 * journal_pages_max;
// A journal shorter than this is left for the next process when the last one leaves: reading it,
// some microseconds a page, costs less than the two flushes of copying it back.
constexpr int journal_pages_to_leave = 50;

std::string describe(sqlite3* handle, int code, const std::string& path) {
    std::string text = "SQLite: ";
    text += handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        text += " (another process keeps a transaction open)";
    }
    if (!path.empty()) text += ": " + path;
    return text;
}

unique_id id_in(std::string_view bytes) noexcept {
    unique_id value;
    if (!bytes.empty())
        std::memcpy(value.words.data(), bytes.data(), std::min(bytes.size(), sizeof value.words));
    return value;
}

unique_id id_in(sqlite3_value* value) noexcept {
    const void* data = sqlite3_value_blob(value);
    return id_in(
        {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_value_bytes(value))});
}

std::string_view text_in(sqlite3_value* value) noexcept {
    const auto* data = sqlite3_value_text(value);
    if (data == nullptr) return {};
    return {reinterpret_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

}  // namespace

errc code_of_sqlite(int extended_code, bool committing) noexcept {
    switch (extended_code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
        case SQLITE_SCHEMA:
        case SQLITE_MISMATCH:
        case SQLITE_CONSTRAINT:
        case SQLITE_ERROR:
            return errc::bad_reply;
        case SQLITE_PERM:
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_AUTH:
            return errc::access_denied;
        case SQLITE_IOERR:
            return committing ? errc::outcome_unknown : errc::unavailable;
        default:
            return errc::unavailable;
    }
}

// --- statement ---

statement::statement(sqlite3* database, std::string_view sql) : database_(database) {
    check(sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()),
                             SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
}

statement::~statement() {
    sqlite3_finalize(statement_);
}

void statement::check(int code) {
    if (code == SQLITE_OK) return;
    throw database_error({.code = code_of_sqlite(sqlite3_extended_errcode(database_), false),
                          .detail = describe(database_, code, {})});
}

statement& statement::bind(int place, std::int64_t value) {
    check(sqlite3_bind_int64(statement_, place, value));
    return *this;
}

statement& statement::bind(int place, const unique_id& value) {
    check(sqlite3_bind_blob(statement_, place, value.words.data(), sizeof value.words,
                            SQLITE_STATIC));
    return *this;
}

statement& statement::bind(int place, time_point value) {
    return bind(place, std::int64_t{value.time_since_epoch().count()});
}

statement& statement::bind_blob(int place, std::string_view bytes) {
    // A null pointer would be bound as NULL.
    check(sqlite3_bind_blob64(statement_, place, bytes.data() == nullptr ? "" : bytes.data(),
                              bytes.size(), SQLITE_STATIC));
    return *this;
}

statement& statement::bind_text(int place, std::string_view text) {
    check(sqlite3_bind_text64(statement_, place, text.data() == nullptr ? "" : text.data(),
                              text.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}

statement& statement::bind_null(int place) {
    check(sqlite3_bind_null(statement_, place));
    return *this;
}

bool statement::advance(bool committing) {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement_);
        return false;
    }
    failure why{.code = code_of_sqlite(sqlite3_extended_errcode(database_), committing),
                .detail = describe(database_, code, {})};
    sqlite3_reset(statement_);
    throw database_error(std::move(why));
}

bool statement::step() {
    return advance(false);
}
bool statement::step_alone() {
    return advance(true);
}
void statement::reset() noexcept {
    sqlite3_reset(statement_);
}

std::int64_t statement::number(int column) const noexcept {
    return sqlite3_column_int64(statement_, column);
}

bool statement::null(int column) const noexcept {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

unique_id statement::id(int column) const noexcept {
    return id_in(bytes(column));
}

time_point statement::time(int column) const noexcept {
    return time_point{duration{number(column)}};
}

std::string_view statement::bytes(int column) const noexcept {
    const void* data = sqlite3_column_blob(statement_, column);
    if (data == nullptr) return {};
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

// --- database ---

database::database(const std::string& path, duration clock_offset, duration busy_max)
    : path_(path),
      clock_offset_(clock_offset),
      busy_max_(busy_max),
      tend_at_(journal_pages_max),
      jitter_(support::random_word() | 1U) {
    const int code = sqlite3_open_v2(
        path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        nullptr);
    if (code != SQLITE_OK) {
        failure why{.code = code_of_sqlite(code, false), .detail = describe(handle_, code, path)};
        sqlite3_close(handle_);
        throw database_error(std::move(why));
    }
    sqlite3_busy_handler(handle_, &wait_while_busy, this);
    sqlite3_wal_hook(handle_, &count_journal, this);
    // Leaving is not the time to flush the disk: tend() decides.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    register_functions();
}

void database::drop_statements() noexcept {
    statements_.clear();
    begin_write_.reset();
    begin_read_.reset();
    commit_.reset();
}

database::~database() {
    drop_statements();
    if (journal_pages_ >= journal_pages_to_leave) {
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    }
    sqlite3_close(handle_);
}

// Without a checkpoint and outside of a transaction, closing only unmaps, closes descriptors and
// gives up file locks, and those of the parent are not this process's to give up.
void database::close_in_child() noexcept {
    drop_statements();
    sqlite3_close(std::exchange(handle_, nullptr));
}

void database::register_functions() {
    constexpr int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    const auto add = [&](const char* name, int arguments, auto function) {
        const int code = sqlite3_create_function_v2(handle_, name, arguments, flags, this, function,
                                                    nullptr, nullptr, nullptr);
        if (code == SQLITE_OK) return;
        failure why{.code = errc::unavailable, .detail = describe(handle_, code, path_)};
        sqlite3_close(handle_);
        throw database_error(std::move(why));
    };
    add("holdfast_note", 2, &sql_note);
    add("holdfast_waits", 2, &sql_waits);
    add("holdfast_call", 3, &sql_call);
}

// Tells us what a statement finds; RETURNING would cost a temporary table (1 µs). Its value is the
// first argument.
void database::sql_note(sqlite3_context* context, int, sqlite3_value** values) {
    auto* self = static_cast<database*>(sqlite3_user_data(context));
    self->noted_ = {sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])};
    sqlite3_result_int64(context, self->noted_.token);
}

// Whether the packed waiter has not expired at a time.
void database::sql_waits(sqlite3_context* context, int, sqlite3_value** values) {
    const auto waiter = packed_waiter::from(text_in(values[0]));
    sqlite3_result_int(context, waiter.expires > sqlite3_value_int64(values[1]) ? 1 : 0);
}

// Tells us whom a statement calls, unless it was called before: a claim, and its packed waiter. Its
// value is the waiter as called at the given time.
void database::sql_call(sqlite3_context* context, int, sqlite3_value** values) {
    auto waiter = packed_waiter::from(text_in(values[1]));
    if (waiter.called != 0) return sqlite3_result_value(context, values[1]);
    waiter.called = sqlite3_value_int64(values[2]);
    auto* self = static_cast<database*>(sqlite3_user_data(context));
    self->called_ = {.client = waiter.client, .claim = id_in(values[0])};
    try {
        const auto text = waiter.text();
        sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    }
}

time_point database::now() const noexcept {
    return boot_clock::now() - clock_offset_;
}

void database::fail(int code, bool committing) {
    throw database_error({.code = code_of_sqlite(sqlite3_extended_errcode(handle_), committing),
                          .detail = describe(handle_, code & 0xff, path_)});
}

statement& database::prepared(std::span<const std::string_view> texts, std::size_t which) {
    if (statements_.size() <= which) statements_.resize(texts.size());
    auto& place = statements_[which];
    if (!place) place = std::make_unique<statement>(handle_, texts[which]);
    return *place;
}

void database::execute(const char* sql) {
    const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code, false);
}

std::int64_t database::number(const char* sql) {
    statement once{handle_, sql};
    return once.step() ? once.number(0) : 0;
}

std::string database::text(const char* sql) {
    statement once{handle_, sql};
    return once.step() ? std::string(once.bytes(0)) : std::string();
}

void database::set_durability(durability level) {
    execute(level == durability::full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

std::int64_t database::changes() const noexcept {
    return sqlite3_changes(handle_);
}
std::int64_t database::last_id() const noexcept {
    return sqlite3_last_insert_rowid(handle_);
}

bool database::moved() noexcept {
    int answer = 0;
    const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &answer);
    return code == SQLITE_OK && answer != 0;
}

int database::count_journal(void* self, sqlite3*, const char*, int pages) {
    static_cast<database*>(self)->journal_pages_ = pages;
    return SQLITE_OK;
}

void database::tend() noexcept {
    const int how = journal_pages_ >= journal_pages_alarm ? SQLITE_CHECKPOINT_RESTART
                                                          : SQLITE_CHECKPOINT_PASSIVE;
    int in_journal = 0;
    int copied = 0;
    const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, how, &in_journal, &copied);
    // All copied: the next transaction starts the journal anew. Otherwise not again too soon.
    const bool whole = code == SQLITE_OK && copied >= in_journal;
    tend_at_ = whole ? journal_pages_max : journal_pages_ + journal_pages_max;
    if (whole) journal_pages_ = 0;
}

// Transactions last microseconds, so first the processor is only yielded; then come short naps of
// random length, so that many processes do not ask in step. SQLite's own busy_timeout naps for up
// to 100 ms, far longer than anybody holds the database.
bool database::pause(int count) noexcept {
    const auto at = std::chrono::steady_clock::now();
    if (count == 0) busy_since_ = at;
    if (at - busy_since_ > busy_max_) return false;
    if (count < 6) {
        std::this_thread::yield();
        return true;
    }
    jitter_ ^= jitter_ << 13U;
    jitter_ ^= jitter_ >> 7U;
    jitter_ ^= jitter_ << 17U;
    const auto longest = std::min<std::uint64_t>(50U << std::min(count - 6, 5), 1200);
    const timespec nap{0, static_cast<long>((30 + jitter_ % longest) * 1000)};
    ::nanosleep(&nap, nullptr);
    return true;
}

int database::wait_while_busy(void* self, int count) {
    return static_cast<database*>(self)->pause(count) ? 1 : 0;
}

// --- transactions ---

statement& database::own(std::unique_ptr<statement>& place, std::string_view sql) {
    if (!place) place = std::make_unique<statement>(handle_, sql);
    return *place;
}

void database::begin_write() {
    own(begin_write_, "BEGIN IMMEDIATE").step();
}
void database::begin_read() {
    own(begin_read_, "BEGIN").step();
}
void database::commit() {
    own(commit_, "COMMIT").step_alone();
}

void database::rollback() noexcept {
    // Some failures have rolled back already.
    if (sqlite3_get_autocommit(handle_) != 0) return;
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

transaction::transaction(database& on, mode how) : on_(on) {
    how == mode::write ? on.begin_write() : on.begin_read();
}

transaction::~transaction() {
    if (open_) on_.rollback();
}

void transaction::commit() {
    on_.commit();
    open_ = false;
}

}  // namespace holdfast::sqlite
