// What `holdfast doctor` says about an SQLite store.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <utility>

#include "stores/sqlite/attempt.hpp"
#include "stores/sqlite/filesystem.hpp"
#include "stores/sqlite/store.hpp"

namespace holdfast::sqlite {
namespace {

using level = finding::level;
using findings = std::vector<finding>;

constexpr std::uint64_t journal_bytes_alarm = 64U << 20U;
constexpr std::uint64_t free_bytes_alarm = 32U << 20U;
constexpr std::size_t stale_alarm = 1000;

std::string in_words(std::uint64_t bytes) {
    constexpr const char* units[] = {" bytes", " kB", " MB", " GB", " TB"};
    std::size_t unit = 0;
    std::uint64_t value = bytes;
    for (; value >= 10'000 && unit + 1 < std::size(units); ++unit) value /= 1000;
    return std::to_string(value) + units[unit];
}

std::string octal(mode_t mode) {
    std::string text;
    for (unsigned shift = 9; shift > 0; shift -= 3) {
        text += static_cast<char>('0' + ((mode >> (shift - 3)) & 7U));
    }
    return text;
}

std::uint64_t size_of(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

void tell_file_system(const std::string& path, bool any, findings& found) {
    const auto kept_on = file_system_of(directory_of(path));
    if (!kept_on) {
        found.push_back({level::error, "file system", kept_on.error().detail, {}});
    } else if (!kept_on->local) {
        found.push_back({any ? level::warning : level::error, "file system",
                         std::string(kept_on->name) + ": SQLite's locks do not reliably exclude",
                         "keep the file on a local disk"});
    } else {
        found.push_back({level::ok, "file system", std::string(kept_on->name) + ", local", {}});
    }
}

void tell_space(const std::string& path, findings& found) {
    struct statvfs about {};
    if (::statvfs(directory_of(path).c_str(), &about) != 0) return;
    const auto bytes = std::uint64_t{about.f_bavail} * about.f_frsize;
    const bool scarce = bytes < free_bytes_alarm;
    found.push_back({scarce ? level::warning : level::ok, "free space",
                     in_words(bytes) + " free for the database and its journal",
                     scarce ? "make room: on a full disk nothing can be acquired or renewed" : ""});
}

void tell_rights(const std::string& path, const char* subject, findings& found) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
        found.push_back({level::warning, subject, path + " cannot be examined", {}});
        return;
    }
    const mode_t rights = about.st_mode & 0777;
    const bool sticky = (about.st_mode & S_ISVTX) != 0;
    const bool others_write = (rights & 0002) != 0 && !sticky;
    if (about.st_uid != ::geteuid() && about.st_uid != 0) {
        found.push_back({level::warning, subject,
                         path + " belongs to another user (" + std::to_string(about.st_uid) + ")",
                         "make sure that this user may decide about your locks"});
    } else if (others_write) {
        found.push_back({level::error, subject,
                         path + " may be changed by everybody (" + octal(rights) + ")",
                         "take the right away: chmod o-w"});
    } else if (S_ISREG(about.st_mode) && (rights & 0077) != 0) {
        found.push_back({level::note, subject,
                         path + " is open to other users (" + octal(rights) + ")",
                         "if that is not meant: chmod 600"});
    } else {
        found.push_back({level::ok, subject, path + " (" + octal(rights) + ")", {}});
    }
}

void tell_journal(const std::string& path, const std::string& mode, findings& found) {
    const auto bytes = size_of(path + "-wal");
    if (mode != "wal") {
        found.push_back({level::error, "journal", "the mode is '" + mode + "' and must be 'wal'",
                         "open the store once with nobody else using it"});
    } else if (bytes > journal_bytes_alarm) {
        found.push_back({level::warning, "journal", in_words(bytes) + " long: it cannot be emptied",
                         "look for a program that keeps a read transaction open on the file"});
    } else {
        found.push_back({level::ok, "journal", "write-ahead, " + in_words(bytes), {}});
    }
}

void tell_clock(findings& found) {
    const auto boot = boot_identity();
    const auto offset = boot_clock_offset();
    if (!boot || !offset) {
        found.push_back({level::error, "clock", (boot ? offset.error() : boot.error()).detail, {}});
        return;
    }
    std::string text = "boot " + *boot;
    if (*offset != duration{}) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*offset);
        text += ", in a time namespace shifted by " + std::to_string(seconds.count()) +
                " s, which is taken into account";
    }
    found.push_back({level::ok, "clock", std::move(text), {}});
}

}  // namespace

std::vector<finding> sqlite_store::examine() {
    findings found;
    if (forked()) return {{level::error, "process", forked_failure().detail, {}}};
    const auto done = attempt([&]() -> result<void> {
        find_about_file(found);
        find_about_content(found);
        find_about_clients(found);
        return {};
    });
    if (!done) {
        found.push_back({level::error, "database", done.error().detail,
                         "if the file is damaged, stop all programs that use it and remove it"});
    }
    return found;
}

void sqlite_store::find_about_file(findings& found) {
    const auto& path = how_.path;
    if (database_->moved()) {
        found.push_back({level::error, "file", path + " was removed or replaced while it was open",
                         "open a new client; programs that use the old file lock for themselves"});
    } else {
        found.push_back({level::ok, "file", path + ", " + in_words(size_of(path)), {}});
    }
    tell_file_system(path, how_.any_file_system, found);
    tell_space(path, found);
    tell_rights(path, "file rights", found);
    tell_rights(directory_of(path), "directory rights", found);
    tell_journal(path, database_->text("PRAGMA journal_mode"), found);
    found.push_back({level::ok,
                     "durability",
                     how_.level == durability::full
                         ? "full: every commit waits for the disk"
                         : "normal: a power loss ends all holds and may lose the last commits; "
                           "tokens rise all the same, because every boot begins a new epoch",
                     {}});
    tell_clock(found);
}

void sqlite_store::find_about_content(findings& found) {
    const auto check = database_->text("PRAGMA quick_check(1)");
    if (check != "ok") {
        found.push_back({level::error, "integrity", "SQLite says: " + check,
                         "stop all programs that use it and remove the file"});
        return;
    }
    found.push_back({level::ok, "integrity", "SQLite finds no damage", {}});
    found.push_back({level::ok,
                     "schema",
                     "version " + std::to_string(database_->number("PRAGMA user_version")) +
                         ", token epoch " +
                         std::to_string(database_->number("SELECT epoch FROM meta")),
                     {}});
    const auto names = database_->number("SELECT count(*) FROM lock");
    const auto holds = database_->number(
        "SELECT (SELECT count(*) FROM lock WHERE claim IS NOT NULL) + (SELECT count(*) FROM hold)");
    const auto waiters = database_->number(
        "SELECT (SELECT count(*) FROM lock WHERE waiting_claim IS NOT NULL) + "
        "(SELECT count(*) FROM waiter)");
    found.push_back({level::ok,
                     "content",
                     std::to_string(names) + " names, " + std::to_string(holds) +
                         " rows of holds (ended ones included), " + std::to_string(waiters) +
                         " waiters",
                     {}});
}

void sqlite_store::find_about_clients(findings& found) {
    auto& bells = doorbell_->bells();
    const auto mark = sqlite::bells(*database_);
    if (!mark.empty() && !bells.enter(mark)) {
        found.push_back({level::warning, "clients",
                         bells.path() + " was removed: until its clients have made it again, a "
                                        "process that dies keeps its holds for their ttl",
                         "do not clean up beside the database"});
        return;
    }
    const auto seen = bells.count(false);
    found.push_back({seen.stale > stale_alarm ? level::note : level::ok,
                     "clients",
                     std::to_string(seen.alive) + " alive, " + std::to_string(seen.stale) +
                         " ended without saying so (they are swept up now and then)",
                     {}});
    if (!mark.empty()) tell_rights(bells.path(), "clients' directory", found);
}

}  // namespace holdfast::sqlite
