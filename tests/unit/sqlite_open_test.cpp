// Opening an SQLite store: what it makes, what it refuses, and what a reboot changes.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "sqlite_fixture.hpp"
#include "stores/sqlite/filesystem.hpp"

namespace holdfast::sqlite_test {
namespace {

using sqlite::settings;

class sqlite_open : public ::testing::Test {
  protected:
    failure refusal(settings how) {
        runtime::loop loop;
        auto opened = sqlite::sqlite_store::open(std::move(how), loop);
        if (opened) ADD_FAILURE() << "opened";
        return opened ? failure{} : opened.error();
    }
    failure refusal() { return refusal({.path = home_.file()}); }
    void change(const char* sql) {
        sqlite::database raw{home_.file(), {}};
        raw.execute(sql);
    }
    /// Runs in a process of its own, for what cannot be undone: rights, mounts, limits.
    static int in_child(const std::function<int()>& body) {
        const auto child = ::fork();
        if (child == 0) ::_exit(body());
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    directory home_;
};

mode_t rights(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 0777 : 0;
}

TEST_F(sqlite_open, makes_everything_private_whatever_the_umask) {
    const auto before = ::umask(0);
    {
        client a{home_.file("deep/er/locks.db")};
        must_grant(a.acquire(mutex_claim("x")));
        EXPECT_EQ(rights(home_.file("deep")), 0700U);
        EXPECT_EQ(rights(home_.file("deep/er")), 0700U);
        const auto file = home_.file("deep/er/locks.db");
        EXPECT_EQ(rights(file), 0600U);
        EXPECT_EQ(rights(file + "-wal"), 0600U);
        EXPECT_EQ(rights(file + "-shm"), 0600U);
        EXPECT_EQ(rights(file + "-clients"), 0700U);
        for (const auto& entry : std::filesystem::directory_iterator{file + "-clients"}) {
            EXPECT_EQ(rights(entry.path()), 0600U) << entry.path();
        }
    }
    ::umask(before);
}

TEST_F(sqlite_open, lets_those_in_who_may_use_the_file) {
    { client a{home_.file()}; }
    ASSERT_EQ(::chmod(home_.file().c_str(), 0660), 0);
    client a{home_.file()};
    must_grant(a.acquire(mutex_claim("x")));
    EXPECT_EQ(rights(home_.file() + "-clients"), 0770U);
    int fifos = 0;
    for (const auto& entry : std::filesystem::directory_iterator{home_.file() + "-clients"}) {
        if (!entry.is_fifo()) continue;
        ++fifos;
        EXPECT_EQ(rights(entry.path()), 0660U);
    }
    EXPECT_EQ(fifos, 1);
}

TEST_F(sqlite_open, uses_the_journal_it_needs_and_small_pages) {
    client a{home_.file()};
    sqlite::database raw{home_.file(), {}};
    EXPECT_EQ(raw.text("PRAGMA journal_mode"), "wal");
    EXPECT_EQ(raw.number("PRAGMA page_size"), 1024);
    EXPECT_EQ(raw.number("PRAGMA application_id"), sqlite::application_id);
}

TEST_F(sqlite_open, leaves_no_fifo_behind) {
    {
        client a{home_.file()};
        must_grant(a.acquire(mutex_claim("x")));
    }
    sqlite::bell_directory all{home_.file() + "-clients", support::new_id(), 0600};
    EXPECT_EQ(all.count(false).alive + all.count(false).stale, 0U);
}

TEST_F(sqlite_open, refuses_a_newer_schema) {
    { client a{home_.file()}; }
    change("PRAGMA user_version = 3");
    const auto why = refusal();
    EXPECT_EQ(why.code, errc::unsupported);
    EXPECT_NE(why.detail.find("newer holdfast"), std::string::npos) << why.detail;
}

TEST_F(sqlite_open, refuses_a_schema_that_was_never_released) {
    { client a{home_.file()}; }
    change("PRAGMA user_version = 1");
    const auto why = refusal();
    EXPECT_EQ(why.code, errc::unsupported);
    EXPECT_NE(why.detail.find("remove it"), std::string::npos) << why.detail;
}

TEST_F(sqlite_open, refuses_the_database_of_another_program) {
    ASSERT_TRUE(sqlite::make_private_file(home_.file()));
    change("CREATE TABLE theirs (a)");
    EXPECT_EQ(refusal().code, errc::invalid_argument);
    change("PRAGMA application_id = 77; PRAGMA user_version = 1");
    EXPECT_EQ(refusal().code, errc::invalid_argument);
    sqlite::database raw{home_.file(), {}};
    EXPECT_EQ(raw.text("PRAGMA journal_mode"), "delete") << "it was not touched";
}

TEST_F(sqlite_open, refuses_what_is_no_database) {
    std::ofstream{home_.file()} << std::string(5000, 'x');
    EXPECT_EQ(refusal().code, errc::bad_reply);
}

TEST_F(sqlite_open, notices_damage) {
    { client a{home_.file()}; }
    change("PRAGMA wal_checkpoint(TRUNCATE)");
    std::fstream file{home_.file(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(1024);
    file << std::string(6 * 1024, 'x');
    file.close();
    runtime::loop loop;
    auto opened = sqlite::sqlite_store::open({.path = home_.file()}, loop);
    EXPECT_EQ(opened ? errc{} : opened.error().code, errc::bad_reply);
}

TEST_F(sqlite_open, refuses_bad_paths) {
    EXPECT_EQ(refusal({.path = ""}).code, errc::invalid_argument);
    EXPECT_EQ(refusal({.path = home_.path() + "/"}).code, errc::invalid_argument);
    EXPECT_EQ(refusal({.path = home_.path()}).code, errc::access_denied);
    EXPECT_EQ(refusal({.path = std::string("a\0b", 3)}).code, errc::invalid_argument);
    std::ofstream{home_.file("plain")} << "x";
    EXPECT_EQ(refusal({.path = home_.file("plain/locks.db")}).code, errc::invalid_argument);
}

TEST_F(sqlite_open, says_access_denied_where_it_may_not_write) {
    { client a{home_.file()}; }
    const auto path = home_.file();
    ASSERT_EQ(::chmod(home_.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    const auto as_other = [&](const std::string& file) {
        return in_child([&] {
            // Without being root, the owner takes the rights away from itself.
            if (::geteuid() == 0) {
                if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 99;
            } else {
                ::chmod(path.c_str(), 0444);
                ::chmod(home_.path().c_str(), 0555);
            }
            runtime::loop loop;
            auto opened = sqlite::sqlite_store::open({.path = file}, loop);
            if (opened) return 98;
            return static_cast<int>(opened.error().code);
        });
    };
    EXPECT_EQ(as_other(path), static_cast<int>(errc::access_denied));
    EXPECT_EQ(as_other(home_.file("another.db")), static_cast<int>(errc::access_denied));
    ::chmod(home_.path().c_str(), 0700);
}

TEST_F(sqlite_open, answers_unavailable_on_a_full_disk_and_goes_on_when_there_is_room) {
    const int outcome = in_child([&] {
        if (::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) return 77;
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        if (::mount("tmpfs", home_.path().c_str(), "tmpfs", 0, "size=512k") != 0) return 77;
        client a{home_.file()};
        const auto mine = mutex_claim("x");
        if (!a.acquire(mine)) return 1;
        const int filler =
            ::open(home_.file("filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        const std::string block(4096, 'x');
        while (::write(filler, block.data(), block.size()) > 0) {
        }
        // There is still room in the last pages of the journal.
        auto answer = a.acquire(mutex_claim("y0"));
        for (int i = 1; i < 1000 && answer; ++i)
            answer = a.acquire(mutex_claim("y" + std::to_string(i)));
        if (answer || answer.error().code != errc::unavailable) return 2;
        if (::ftruncate(filler, 0) != 0) return 3;
        if (!a.acquire(mutex_claim("z"))) return 4;
        if (!a.release("x", mine.id)) return 5;
        return 0;
    });
    if (outcome == 77) GTEST_SKIP() << "no right to mount";
    EXPECT_EQ(outcome, 0);
}

TEST_F(sqlite_open, voids_holds_and_waiters_of_an_earlier_boot_and_begins_a_new_epoch) {
    client old{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(old.acquire(mine));
    must_refuse(old.acquire(mutex_claim("x", true)));
    change("UPDATE meta SET boot = 'another'");
    client a{home_.file()};
    EXPECT_TRUE(a.it().list("", false)->empty());
    const auto token = must_grant(a.acquire(mutex_claim("x"))).token;
    EXPECT_EQ(token.value(), (std::uint64_t{1} << 40U) + 1);
    EXPECT_EQ(must_grant(a.acquire(mutex_claim("new"))).token, token);
    EXPECT_EQ(old.renew({.hold = {"x", mine.id}, .ttl = 60s}).lost, loss_reason::taken_over);
    client b{home_.file()};
    sqlite::database raw{home_.file(), {}};
    EXPECT_EQ(raw.number("SELECT epoch FROM meta"), 1);
    EXPECT_EQ(raw.text("SELECT boot FROM meta"), *sqlite::boot_identity());
}

TEST_F(sqlite_open, fails_for_good_when_the_file_was_removed) {
    client a{home_.file()};
    const auto mine = mutex_claim("x");
    must_grant(a.acquire(mine));
    std::filesystem::remove(home_.file());
    const auto until = std::chrono::steady_clock::now() + deadline;
    auto answer = a.renew(std::vector<renewal_request>{{.hold = {"x", mine.id}, .ttl = 60s}});
    while (answer && std::chrono::steady_clock::now() < until) {
        answer = a.renew(std::vector<renewal_request>{{.hold = {"x", mine.id}, .ttl = 60s}});
    }
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::bad_reply);
    EXPECT_EQ(a.acquire(mutex_claim("y")).error().code, errc::bad_reply);
}

TEST_F(sqlite_open, answers_unavailable_when_another_keeps_the_database) {
    client a{settings{.path = home_.file(), .busy_max = 50ms}};
    sqlite::database raw{home_.file(), {}};
    raw.execute("BEGIN IMMEDIATE");
    const auto answer = a.acquire(mutex_claim("x"));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::unavailable);
    raw.execute("ROLLBACK");
    must_grant(a.acquire(mutex_claim("x")));
}

TEST_F(sqlite_open, opens_from_many_threads_at_once) {
    std::vector<std::thread> threads;
    std::atomic<int> granted_count{0};
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            client a{home_.file()};
            const auto answer = a.acquire(mutex_claim("x"));
            if (answer && std::holds_alternative<granted>(*answer)) ++granted_count;
            if (!answer) ADD_FAILURE() << answer.error().message();
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GE(granted_count, 1);
}

TEST_F(sqlite_open, examines_itself) {
    client a{home_.file()};
    must_grant(a.acquire(mutex_claim("x")));
    for (const auto& found : a.it().examine()) {
        EXPECT_EQ(found.severity, finding::level::ok) << found.subject << ": " << found.text;
        EXPECT_FALSE(found.text.empty());
    }
    ASSERT_EQ(::chmod(home_.file().c_str(), 0666), 0);
    std::filesystem::remove_all(home_.file() + "-clients");
    std::string bad;
    for (const auto& found : a.it().examine()) {
        if (found.severity == finding::level::ok) continue;
        bad += found.subject + ";";
        EXPECT_FALSE(found.advice.empty());
    }
    EXPECT_EQ(bad, "file rights;clients;");
}

TEST(sqlite_filesystem, tells_network_file_systems_from_local_ones) {
    for (const std::uint64_t number :
         {0x6969ULL, 0x517BULL, 0xFE534D42ULL, 0xFF534D42ULL, 0x65735546ULL, 0x01021997ULL,
          0x5346414FULL, 0x00C36400ULL, 0x0BD00BD0ULL, 0x01161970ULL, 0x7461636FULL}) {
        EXPECT_FALSE(sqlite::classify_file_system(number).local) << std::hex << number;
    }
    for (const std::uint64_t number :
         {0xEF53ULL, 0x58465342ULL, 0x9123683EULL, 0x01021994ULL, 0x794C7630ULL, 0x12345678ULL}) {
        EXPECT_TRUE(sqlite::classify_file_system(number).local) << std::hex << number;
    }
}

TEST(sqlite_filesystem, reads_the_offset_of_a_time_namespace) {
    EXPECT_EQ(*sqlite::parse_boot_clock_offset("monotonic           0         0\n"
                                               "boottime       86400       500\n"),
              duration{24h} + duration{500});
    EXPECT_EQ(*sqlite::parse_boot_clock_offset("monotonic 5 0\nboottime -10 0\n"), duration{-10s});
    EXPECT_FALSE(sqlite::parse_boot_clock_offset(""));
    EXPECT_FALSE(sqlite::parse_boot_clock_offset("boottime x 0\n"));
}

TEST(sqlite_settings, takes_known_options_and_names_unknown_ones) {
    const auto read = [](const char* url) {
        auto where = runtime::parse_store_url(url);
        return where ? sqlite::read_settings(*where) : result<settings>{where.error()};
    };
    const auto all = read("sqlite:/a%20b.db?filesystem=any&durability=full");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->path, "/a b.db");
    EXPECT_TRUE(all->any_file_system);
    EXPECT_EQ(all->level, sqlite::durability::full);
    EXPECT_EQ(read("sqlite:///x")->path, "/x");
    EXPECT_NE(read("sqlite:x?foo=1").error().detail.find("'foo'"), std::string::npos);
    EXPECT_NE(read("sqlite:x?foo=1").error().detail.find("filesystem"), std::string::npos);
    EXPECT_EQ(read("sqlite:x?durability=maybe").error().code, errc::invalid_argument);
    EXPECT_EQ(read("sqlite://host/x").error().code, errc::invalid_argument);
}

TEST(sqlite_errors, become_the_outcome_that_they_mean) {
    using sqlite::code_of_sqlite;
    EXPECT_EQ(code_of_sqlite(5, false), errc::unavailable);               // BUSY
    EXPECT_EQ(code_of_sqlite(5 | 2 << 8, true), errc::unavailable);       // BUSY_SNAPSHOT
    EXPECT_EQ(code_of_sqlite(13, true), errc::unavailable);               // FULL
    EXPECT_EQ(code_of_sqlite(10, false), errc::unavailable);              // IOERR
    EXPECT_EQ(code_of_sqlite(10 | 4 << 8, true), errc::outcome_unknown);  // IOERR_FSYNC
    EXPECT_EQ(code_of_sqlite(11, false), errc::bad_reply);                // CORRUPT
    EXPECT_EQ(code_of_sqlite(26, false), errc::bad_reply);                // NOTADB
    EXPECT_EQ(code_of_sqlite(8, false), errc::access_denied);             // READONLY
    EXPECT_EQ(code_of_sqlite(14, false), errc::access_denied);            // CANTOPEN
}

}  // namespace
}  // namespace holdfast::sqlite_test
