#include "stores/sqlite/schema.hpp"

#include <thread>

#include "stores/sqlite/filesystem.hpp"

namespace holdfast::sqlite {
namespace {

constexpr const char* tables = R"(
CREATE TABLE lock (
  id INTEGER PRIMARY KEY,
  name BLOB NOT NULL UNIQUE,
  rules INTEGER NOT NULL,
  token INTEGER NOT NULL,
  others INTEGER NOT NULL,
  claim BLOB, client BLOB, first INTEGER, expires INTEGER NOT NULL, holding TEXT,
  waiting_claim BLOB, waiting TEXT
);
CREATE TABLE hold (
  lock INTEGER NOT NULL,
  first INTEGER NOT NULL,
  claim BLOB NOT NULL, client BLOB, how INTEGER NOT NULL,
  permits INTEGER NOT NULL, tokens INTEGER NOT NULL, since INTEGER NOT NULL,
  expires INTEGER NOT NULL, owner TEXT NOT NULL,
  PRIMARY KEY (lock, first)
) WITHOUT ROWID;
CREATE TABLE waiter (
  lock INTEGER NOT NULL,
  ticket INTEGER NOT NULL,
  claim BLOB NOT NULL, client BLOB NOT NULL, how INTEGER NOT NULL, next INTEGER NOT NULL,
  permits INTEGER NOT NULL, since INTEGER NOT NULL, expires INTEGER NOT NULL,
  called INTEGER, owner TEXT NOT NULL,
  PRIMARY KEY (lock, ticket)
) WITHOUT ROWID;
CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  boot TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  floor INTEGER NOT NULL,
  bells TEXT NOT NULL
);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  who TEXT NOT NULL, name BLOB NOT NULL, token INTEGER NOT NULL, owner TEXT NOT NULL
);
)";

// `rules` is the kind and the capacity, as rules_of() puts them together. `others` counts the rows
// of the name in the other two tables. `client` is the one with which the hold ends; a detached one
// has none. `expires` is the end of the hold in the row, or, if there is none, the time of the last
// change. `holding` and `waiting` are packed: the rest of the hold and of the waiter in the row. A
// row keeps the columns of its last hold and waiter; without `claim` or `waiting_claim` they mean
// nothing.
//
// Some statements are told the id of the row that should be the name's, or NULL: that saves them
// the way through the index, a tenth of their time.
constexpr auto texts = std::to_array<std::string_view>({
    // find_lock
    "SELECT id, rules, token, others, claim, client, first, expires, holding, waiting_claim, "
    "waiting FROM lock WHERE name = ?1",
    // insert_lock
    "INSERT INTO lock (rules, token, others, claim, client, first, expires, holding, "
    "waiting_claim, waiting, name) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    // update_lock
    "UPDATE lock SET rules = ?1, token = ?2, others = ?3, claim = ?4, client = ?5, first = ?6, "
    "expires = ?7, holding = ?8, waiting_claim = ?9, waiting = ?10 WHERE id = ?11",
    // grant_free
    "UPDATE lock SET rules = ?2, token = token + ?3, claim = ?4, client = ?5, "
    "first = holdfast_note(token + 1, id), expires = ?6, holding = ?7, waiting_claim = NULL "
    "WHERE id = coalesce(?10, (SELECT id FROM lock WHERE name = ?1)) AND name = ?1 "
    "AND claim IS NULL AND others = 0 "
    "AND (waiting_claim IS NULL OR waiting_claim = ?4) AND token BETWEEN ?8 AND ?9",
    // release_plain
    "UPDATE lock SET claim = NULL, expires = ?3, waiting = CASE WHEN waiting_claim IS NULL "
    "THEN waiting ELSE holdfast_call(waiting_claim, waiting, ?3) END "
    "WHERE id = coalesce(?4, (SELECT id FROM lock WHERE name = ?1)) "
    "AND claim = ?2 AND others = 0 AND expires > ?3 "
    "AND (waiting_claim IS NULL OR holdfast_waits(waiting, ?3))",
    // renew_plain
    "UPDATE lock SET expires = ?3 "
    "WHERE id = coalesce(?5, (SELECT id FROM lock WHERE name = ?1)) "
    "AND claim = ?2 AND expires BETWEEN ?4 AND ?3 AND rules & 3 = 0",
    // holds_of
    "SELECT first, claim, client, how, permits, tokens, since, expires, owner "
    "FROM hold WHERE lock = ?1 ORDER BY first",
    // put_hold
    "INSERT OR REPLACE INTO hold (lock, first, claim, client, how, permits, tokens, since, "
    "expires, owner) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    // drop_hold
    "DELETE FROM hold WHERE lock = ?1 AND first = ?2",
    // waiters_of
    "SELECT ticket, claim, client, how, next, permits, since, expires, called, owner "
    "FROM waiter WHERE lock = ?1 ORDER BY ticket",
    // put_waiter
    "INSERT OR REPLACE INTO waiter (lock, ticket, claim, client, how, next, permits, since, "
    "expires, called, owner) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    // drop_waiter
    "DELETE FROM waiter WHERE lock = ?1 AND ticket = ?2",
    // floor
    "SELECT floor FROM meta",
    // idle_after
    "SELECT id, token, claim IS NULL AND waiting_claim IS NULL AND others = 0 "
    "AND expires NOT BETWEEN ?2 AND ?3 FROM lock WHERE id > ?1 ORDER BY id LIMIT ?4",
    // delete_lock
    "DELETE FROM lock WHERE id = ?1",
    // raise_floor
    "UPDATE meta SET floor = max(floor, ?1)",
    // names_all
    "SELECT name FROM lock WHERE name >= ?1 ORDER BY name",
    // names_busy
    "SELECT name FROM lock WHERE name >= ?1 AND (claim IS NOT NULL "
    "OR waiting_claim IS NOT NULL OR others > 0) ORDER BY name",
    // add_audit
    "INSERT INTO audit (at, who, name, token, owner) "
    "VALUES (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?1, ?2, ?3, ?4)",
    // cut_audit
    "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - 10000",
});
static_assert(texts.size() == static_cast<std::size_t>(query::count));

[[noreturn]] void refuse(errc code, std::string text) {
    throw database_error({.code = code, .detail = std::move(text)});
}

void check_version(database& on, std::int64_t version) {
    if (version > schema_version) {
        refuse(errc::unsupported, on.path() + " was written by a newer holdfast (schema " +
                                      std::to_string(version) + "; this one knows up to " +
                                      std::to_string(schema_version) +
                                      "); use that version, or another file");
    }
    if (version < 1) {
        refuse(errc::bad_reply,
               on.path() + " has an impossible schema version (" + std::to_string(version) + ")");
    }
    if (version < schema_version) {
        refuse(errc::unsupported, on.path() +
                                      " was written by a holdfast that was never released "
                                      "(schema " +
                                      std::to_string(version) +
                                      "); stop all programs that use it and remove it");
    }
    // The place for migrations, from the first release on.
}

// True if the database is ours and complete; false if it is empty.
bool recognise(database& on) {
    const auto id = on.number("PRAGMA application_id");
    const auto version = on.number("PRAGMA user_version");
    if (id == application_id) {
        check_version(on, version);
        return true;
    }
    if (id == 0 && version == 0 && on.number("SELECT count(*) FROM sqlite_schema") == 0) {
        return false;
    }
    refuse(errc::invalid_argument,
           on.path() + " is the database of another program; give holdfast a file of its own");
}

void require_journal(database& on) {
    // Several processes may make the database at once; changing the journal needs it alone, and
    // SQLite does not always ask the busy handler for this.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{5};
    for (;;) {
        try {
            const auto mode = on.text("PRAGMA journal_mode = WAL");
            if (mode == "wal") return;
            refuse(errc::unsupported, "SQLite cannot use its write-ahead journal for " + on.path() +
                                          " (it uses '" + mode +
                                          "'): the file system lacks shared memory");
        } catch (const database_error& error) {
            if (error.why().code != errc::unavailable) throw;
            if (std::chrono::steady_clock::now() > until) throw;
            std::this_thread::yield();
        }
    }
}

void create(database& on, std::string_view boot) {
    transaction step{on};
    if (recognise(on)) return;  // another process was faster
    on.execute(tables);
    on.execute(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    on.execute(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
    auto fill =
        on.once("INSERT INTO meta (id, boot, epoch, floor, bells) VALUES (1, ?1, 0, 0, '')");
    fill.bind_text(1, boot).step();
    step.commit();
}

// All holds and waiters of an earlier boot are void, and so are the times.
void enter_boot(database& on, std::string_view boot) {
    transaction step{on};
    auto mark = on.once("UPDATE meta SET boot = ?1, epoch = epoch + 1 WHERE boot <> ?1");
    mark.bind_text(1, boot).step();
    if (on.changes() == 0) return;  // another process was faster
    on.execute(
        "UPDATE lock SET claim = NULL, waiting_claim = NULL, others = 0 "
        "WHERE claim IS NOT NULL OR waiting_claim IS NOT NULL OR others > 0;"
        "DELETE FROM hold; DELETE FROM waiter;");
    step.commit();
}

}  // namespace

statement& prepared(database& on, query which) {
    return on.prepared(texts, static_cast<std::size_t>(which));
}

identity prepare_database(database& on, std::string_view boot, durability level) {
    bool complete = false;
    {
        // One look, not three: another process may be making the tables.
        transaction look{on, transaction::mode::read};
        complete = recognise(on);
    }
    if (!complete) {
        // Small pages: a commit writes whole pages, and a lock is one row.
        on.execute("PRAGMA page_size = 1024");
        require_journal(on);
        on.set_durability(durability::full);
        create(on, boot);
        flush_directory(directory_of(on.path()));
    } else {
        require_journal(on);
    }
    for (;;) {
        identity found;
        {
            auto meta = on.once("SELECT boot, epoch, bells FROM meta");
            if (!meta.step()) refuse(errc::bad_reply, on.path() + " is damaged: meta is empty");
            found = {static_cast<std::uint64_t>(meta.number(1)), std::string(meta.bytes(2))};
            if (meta.bytes(0) == boot) {
                meta.reset();
                on.set_durability(level);
                on.execute("PRAGMA cache_size = -8000");
                return found;
            }
        }
        on.set_durability(durability::full);
        enter_boot(on, boot);
    }
}

void raise_epoch(database& on, std::uint64_t epoch, durability level) {
    on.set_durability(durability::full);
    try {
        auto raise = on.once("UPDATE meta SET epoch = max(epoch, ?1)");
        raise.bind(1, static_cast<std::int64_t>(epoch)).step_alone();
    } catch (...) {
        on.set_durability(level);
        throw;
    }
    on.set_durability(level);
}

void replace_bells(database& on, std::string_view mark) {
    auto set = on.once("UPDATE meta SET bells = ?1");
    set.bind_text(1, mark).step();
    on.execute(
        "UPDATE lock SET client = NULL WHERE claim IS NOT NULL AND client IS NOT NULL;"
        "UPDATE hold SET client = NULL WHERE client IS NOT NULL;");
}

std::string bells(database& on) {
    return on.text("SELECT bells FROM meta");
}

}  // namespace holdfast::sqlite
