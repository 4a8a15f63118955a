#include "sqlite_floor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include <sqlite3.h>

#include "stores.hpp"

namespace holdfast::bench {
namespace {

// The pragmas of src/stores/sqlite/schema.cpp, and its journal length.
constexpr const char* settings =
    "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "PRAGMA cache_size = -8000; PRAGMA wal_autocheckpoint = 1000;"
    "CREATE TABLE IF NOT EXISTS t (k BLOB NOT NULL UNIQUE, v INTEGER NOT NULL, w BLOB);"
    "INSERT OR IGNORE INTO t VALUES (x'6f6e65', 0, zeroblob(80));";

std::string fifo_of(const std::string& path, int side) {
    return path + ".fifo" + std::to_string(side);
}

// The bare wake-up: a FIFO each, which its reader waits for in poll(). Whoever gives the baton
// writes a row first.
class woken_by_fifo final : public baton {
  public:
    woken_by_fifo(const std::string& path, int side)
        : database_(path),
          own_(check(::open(fifo_of(path, side).c_str(), O_RDWR | O_CLOEXEC), "open")),
          other_(check(::open(fifo_of(path, 1 - side).c_str(), O_RDWR | O_CLOEXEC), "open")) {}
    /// Makes the FIFOs anew, with the baton at side 0.
    static void prepare(const std::string& path) {
        for (int side = 0; side < 2; ++side) {
            ::unlink(fifo_of(path, side).c_str());
            check(::mkfifo(fifo_of(path, side).c_str(), 0600), "mkfifo");
        }
    }
    void wake_self() { put(own_); }
    void take() override {
        pollfd one{own_.get(), POLLIN, 0};
        check(::poll(&one, 1, -1), "poll");
        char byte = 0;
        check(static_cast<int>(::read(own_.get(), &byte, 1)), "read");
    }
    void give() override {
        database_.update();
        put(other_);
    }

  private:
    static void put(const descriptor& to) {
        check(static_cast<int>(::write(to.get(), "b", 1)), "write");
    }
    raw_sqlite database_;
    descriptor own_;
    descriptor other_;
};

}  // namespace

void raw_sqlite::closer::operator()(sqlite3* it) const noexcept {
    sqlite3_close_v2(it);
}
void raw_sqlite::closer::operator()(sqlite3_stmt* it) const noexcept {
    sqlite3_finalize(it);
}

raw_sqlite::raw_sqlite(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(path.c_str(), &opened,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) throw std::runtime_error("SQLite cannot open " + path);
    sqlite3_busy_timeout(opened, 10'000);
    execute(settings);
    update_ = prepare("UPDATE t SET v = v + 1 WHERE k = x'6f6e65'");
    prolong_ = prepare("UPDATE t SET v = ?2 WHERE k = ?1");
}

raw_sqlite::statement raw_sqlite::prepare(const char* sql) {
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (made == nullptr) throw std::runtime_error(sqlite3_errmsg(database_.get()));
    return statement{made};
}

void raw_sqlite::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw std::runtime_error(sqlite3_errmsg(database_.get()));
    }
}

void raw_sqlite::step(const statement& what) {
    if (sqlite3_step(what.get()) != SQLITE_DONE) {
        throw std::runtime_error(sqlite3_errmsg(database_.get()));
    }
    sqlite3_reset(what.get());
}

void raw_sqlite::update() {
    step(update_);
}

void raw_sqlite::fill(std::size_t count, const std::function<std::string(std::size_t)>& key_of) {
    execute("BEGIN IMMEDIATE");
    const auto insert = prepare("INSERT OR IGNORE INTO t VALUES (?1, 0, zeroblob(80))");
    for (std::size_t i = 0; i < count; ++i) {
        keys_.push_back(key_of(i));
        const auto& key = keys_.back();
        sqlite3_bind_blob64(insert.get(), 1, key.data(), key.size(), SQLITE_STATIC);
        step(insert);
    }
    execute("COMMIT");
    execute("PRAGMA wal_checkpoint(RESTART)");
}

void raw_sqlite::update_key(std::size_t number) {
    const auto& key = keys_[number];
    sqlite3_bind_blob64(prolong_.get(), 1, key.data(), key.size(), SQLITE_STATIC);
    sqlite3_bind_int64(prolong_.get(), 2, ++now_);
    step(prolong_);
}

double raw_sqlite::update_all(std::size_t at_once) {
    const auto start = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
    for (std::size_t from = 0; from < keys_.size(); from += at_once) {
        execute("BEGIN IMMEDIATE");
        for (auto i = from; i < std::min(keys_.size(), from + at_once); ++i) update_key(i);
        execute("COMMIT");
    }
    return seconds_on(CLOCK_PROCESS_CPUTIME_ID) - start;
}

double transactions_of(const std::string& path) {
    const descriptor index{check(::open((path + "-shm").c_str(), O_RDONLY | O_CLOEXEC), "open")};
    std::uint32_t count = 0;
    constexpr off_t change_counter = 8;
    check(static_cast<int>(::pread(index.get(), &count, sizeof count, change_counter)), "pread");
    return count;
}

baton_source sqlite_floor_baton(const words& which, int side) {
    const auto path = which.at(1);
    if (side == 0) woken_by_fifo::prepare(path);
    return [path, side] {
        auto made = std::make_unique<woken_by_fifo>(path, side);
        if (side == 0) made->wake_self();
        return made;
    };
}

}  // namespace holdfast::bench
