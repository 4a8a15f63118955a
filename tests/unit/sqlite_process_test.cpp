// The SQLite store among several processes: what a death frees, and what a fork must not touch.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "sqlite_fixture.hpp"

namespace holdfast::sqlite_test {
namespace {

/// A forked process that tells when it is ready, and can be killed. Make it while the test has no
/// threads.
class process {
  public:
    using body = std::function<void(process&)>;
    explicit process(const body& run) {
        if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
        pid_ = ::fork();
        if (pid_ != 0) {
            ::close(pipe_[1]);
            return;
        }
        ::close(pipe_[0]);
        try {
            run(*this);
        } catch (const std::exception& error) {
            ::fprintf(stderr, "child: %s\n", error.what());
            ::_exit(3);
        }
        ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    ~process() {
        if (pid_ > 0) kill();
        ::close(pipe_[0]);
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    // In the child.
    void tell(std::uint64_t what = 1) const {
        if (::write(pipe_[1], &what, sizeof what) != sizeof what) ::_exit(2);
    }
    [[noreturn]] void stay() const {
        for (;;) ::pause();
    }

    // In the parent.
    std::uint64_t heard() const {
        std::uint64_t what = 0;
        return ::read(pipe_[0], &what, sizeof what) == sizeof what ? what : 0;
    }
    void kill() {
        ::kill(pid_, SIGKILL);
        end();
    }
    int end() {
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        return status;
    }
    void signal(int number) const { ::kill(pid_, number); }

  private:
    std::array<int, 2> pipe_{};
    ::pid_t pid_ = -1;
};

class sqlite_processes : public ::testing::Test {
  protected:
    process::body holder(const std::string& name) {
        return [this, name](process& self) {
            client a{home_.file()};
            self.tell(must_grant(a.acquire(mutex_claim(name))).token.value());
            self.stay();
        };
    }
    directory home_;
};

TEST_F(sqlite_processes, a_killed_holder_is_gone_at_once) {
    process other{holder("x")};
    EXPECT_EQ(other.heard(), 1U);
    client b{home_.file()};
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(b.acquire(queued));
    EXPECT_EQ(no.retry_after, lease_table::poll_max) << "nothing else may wake it";
    const auto call = b.wait("x", queued.id, no.cursor);
    const auto before = std::chrono::steady_clock::now();
    other.kill();
    EXPECT_TRUE(b.woken(call));
    EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);
    EXPECT_EQ(must_grant(b.acquire(queued)).token, fencing_token{2});
}

// What it had written stands in the journal without the end of a transaction (spec H6).
TEST_F(sqlite_processes, a_kill_in_the_middle_of_a_transaction_is_recovered_from) {
    {
        client a{home_.file()};
        for (int i = 0; i < 200; ++i) {
            const auto claim = mutex_claim("name " + std::to_string(i));
            must_grant(a.acquire(claim));
            a.release(claim.name, claim.id);
        }
    }
    process other{[this](process& self) {
        sqlite::database all{home_.file(), {}};
        all.execute("PRAGMA cache_size = 10; PRAGMA cache_spill = 1");
        sqlite::transaction half{all};
        all.execute("UPDATE lock SET token = token + 1000000, claim = zeroblob(16)");
        self.tell(static_cast<std::uint64_t>(all.changes()));
        self.stay();
    }};
    EXPECT_EQ(other.heard(), 200U);
    other.kill();
    client b{home_.file()};
    EXPECT_EQ(must_grant(b.acquire(mutex_claim("name 7"))).token, fencing_token{2});
    EXPECT_EQ(b.it().list("", false)->size(), 1U);
    for (const auto& what : b.it().examine()) EXPECT_NE(what.severity, finding::level::error);
}

TEST_F(sqlite_processes, a_stopped_holder_still_holds) {
    process other{holder("x")};
    EXPECT_EQ(other.heard(), 1U);
    other.signal(SIGSTOP);
    client b{home_.file()};
    must_refuse(b.acquire(mutex_claim("x")));
}

TEST_F(sqlite_processes, a_killed_waiter_is_in_nobodys_way) {
    process first{holder("x")};
    EXPECT_EQ(first.heard(), 1U);
    process second{[this](process& self) {
        client a{home_.file()};
        must_refuse(a.acquire(mutex_claim("x", true)));
        self.tell();
        self.stay();
    }};
    EXPECT_EQ(second.heard(), 1U);
    client c{home_.file()};
    auto queued = mutex_claim("x", true);
    const auto no = must_refuse(c.acquire(queued));
    const auto call = c.wait("x", queued.id, no.cursor);
    second.kill();
    EXPECT_TRUE(c.woken(call)) << "it watched the one before it";
    const auto again = must_refuse(c.acquire(queued));
    const auto later = c.wait("x", queued.id, again.cursor);
    first.kill();
    EXPECT_TRUE(c.woken(later)) << "now it watched the holder";
    must_grant(c.acquire(queued));
}

TEST_F(sqlite_processes, a_forked_child_does_not_keep_a_dead_parent_alive) {
    process parent{[this](process& self) {
        client a{home_.file()};
        must_grant(a.acquire(mutex_claim("x")));
        if (::fork() == 0) self.tell(static_cast<std::uint64_t>(::getpid()));
        self.stay();
    }};
    const auto child = static_cast<::pid_t>(parent.heard());
    ASSERT_GT(child, 0);
    client b{home_.file()};
    must_refuse(b.acquire(mutex_claim("x")));
    parent.kill();
    must_grant(b.acquire(mutex_claim("x")));
    ::kill(child, SIGKILL);
}

TEST_F(sqlite_processes, a_forked_child_can_neither_use_nor_harm_the_store) {
    process parent{[this](process& self) {
        auto a = std::make_unique<client>(home_.file());
        const auto mine = mutex_claim("x");
        must_grant(a->acquire(mine));
        const auto child = ::fork();
        if (child == 0) {
            const bool refuses = a->acquire(mutex_claim("y")).error().code == errc::forked &&
                                 a->it().show("x").error().code == errc::forked;
            a.reset();
            // A store of its own works, and sees the parent's hold.
            client own{home_.file()};
            const bool held = std::holds_alternative<refused>(*own.acquire(mutex_claim("x")));
            ::_exit(refuses && held ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(a->renew({.hold = {"x", mine.id}, .ttl = 60s}).lost, loss_reason::none);
        self.tell(status == 0 ? 1 : 2);
        a.reset();
    }};
    EXPECT_EQ(parent.heard(), 1U);
    EXPECT_EQ(parent.end(), 0);
}

// SQLite in the child would believe in the file locks that its memory says it has.
TEST_F(sqlite_processes, a_store_opened_in_a_forked_child_has_file_locks_of_its_own) {
    process parent{[this](process& self) {
        auto a = std::make_unique<client>(home_.file());
        must_grant(a->acquire(mutex_claim("x")));
        process child{[&](process& inner) {
            client own{home_.file()};
            must_grant(own.acquire(mutex_claim("y")));
            inner.tell();
            inner.stay();
        }};
        EXPECT_EQ(child.heard(), 1U);
        a.reset();
        // Needs the database alone; so it must fail as long as the child has it open.
        sqlite::database raw{home_.file(), {}, 10ms};
        const auto change = [&] {
            try {
                return raw.text("PRAGMA journal_mode = DELETE");
            } catch (const sqlite::database_error& error) {
                return std::string(error.what());
            }
        };
        EXPECT_NE(change().find("locked"), std::string::npos) << change();
        child.kill();
        EXPECT_EQ(change(), "delete");
        self.tell(::testing::Test::HasFailure() ? 2 : 1);
    }};
    EXPECT_EQ(parent.heard(), 1U);
}

TEST_F(sqlite_processes, an_executed_child_inherits_nothing) {
    process parent{[this](process& self) {
        client a{home_.file()};
        must_grant(a.acquire(mutex_claim("x")));
        const auto child = ::fork();
        if (child == 0) {
            ::execl("/bin/sh", "sh", "-c", "ls -l /proc/$$/fd | grep -q locks.db && exit 1; exit 0",
                    nullptr);
            ::_exit(2);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        self.tell(status == 0 ? 1 : 2);
    }};
    EXPECT_EQ(parent.heard(), 1U);
}

TEST_F(sqlite_processes, a_removed_clients_directory_does_not_make_the_living_look_dead) {
    process other{holder("x")};
    EXPECT_EQ(other.heard(), 1U);
    std::filesystem::remove_all(home_.file() + "-clients");
    client b{home_.file()};
    must_refuse(b.acquire(mutex_claim("x")));
    must_grant(b.acquire(mutex_claim("y")));
    must_refuse(b.acquire(mutex_claim("x")));
    other.kill();
    must_refuse(b.acquire(mutex_claim("x")));  // only its ttl tells now
}

TEST_F(sqlite_processes, a_client_whose_fifo_was_removed_hangs_up_another) {
    client a{home_.file()};
    const auto first = mutex_claim("x");
    must_grant(a.acquire(first));
    std::filesystem::remove_all(home_.file() + "-clients");
    EXPECT_EQ(a.renew({.hold = {"x", first.id}, .ttl = 60s}).lost, loss_reason::none);
    const auto second = mutex_claim("y");
    must_grant(a.acquire(second));
    client b{home_.file()};
    must_refuse(b.acquire(mutex_claim("y")));
    auto queued = mutex_claim("y", true);
    const auto no = must_refuse(b.acquire(queued));
    const auto call = b.wait("y", queued.id, no.cursor);
    a.release("y", second.id);
    EXPECT_TRUE(b.woken(call));
}

TEST_F(sqlite_processes, stale_fifos_are_swept_up) {
    for (int i = 0; i < 3; ++i) {
        process other{holder("x" + std::to_string(i))};
        EXPECT_EQ(other.heard(), 1U);
        other.kill();
    }
    client b{home_.file()};
    must_grant(b.acquire(mutex_claim("y")));
    sqlite::bell_directory all{home_.file() + "-clients", support::new_id(), 0600};
    EXPECT_EQ(all.count(true).alive, 1U);
    EXPECT_EQ(all.count(true).stale, 0U);
}

/// What the processes of the storm share.
struct shared_page {
    std::atomic<int> inside;
    std::atomic<std::uint64_t> last_token;
    std::atomic<std::uint64_t> grants;
    std::atomic<int> wrong;
};

// Everyone increments under the lock; some are killed in the middle of whatever they do.
TEST_F(sqlite_processes, many_exclude_each_other_also_when_some_are_killed) {
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& common = *new (page) shared_page{};
    constexpr int processes = 16;
    constexpr int turns = 60;
    const auto run = [&](process& self) {
        client a{home_.file()};
        self.tell();
        for (int done = 0; done < turns;) {
            auto request = mutex_claim("x", true);
            auto answer = a.acquire(request);
            while (answer && std::holds_alternative<refused>(*answer)) {
                a.woken(a.wait("x", request.id, std::get<refused>(*answer).cursor), 5000ms);
                answer = a.acquire(request);
            }
            const auto token = must_grant(answer).token.value();
            if (common.inside.exchange(1) == 1 && token == common.last_token) common.wrong = 1;
            if (token <= common.last_token) common.wrong = 2;
            common.last_token = token;
            common.inside = 0;
            ++common.grants;
            a.release("x", request.id);
            ++done;
        }
    };
    const auto endless = [&](process& self) {
        client a{home_.file()};
        self.tell();
        for (;;) {
            auto request = mutex_claim("x", true);
            static_cast<void>(a.acquire(request));
            a.release("x", request.id);
        }
    };
    std::vector<std::unique_ptr<process>> workers;
    for (int i = 0; i < processes; ++i) workers.push_back(std::make_unique<process>(run));
    for (int i = 0; i < 12; ++i) {
        process victim{endless};
        EXPECT_EQ(victim.heard(), 1U);
        const auto seen = common.grants.load();
        const auto until = std::chrono::steady_clock::now() + deadline;
        while (common.grants == seen && common.grants < processes * turns &&
               std::chrono::steady_clock::now() < until) {
            ::sched_yield();
        }
        victim.kill();
    }
    for (auto& worker : workers) EXPECT_EQ(worker->end(), 0);
    EXPECT_EQ(common.grants, std::uint64_t{processes * turns});
    EXPECT_EQ(common.wrong, 0);
    client b{home_.file()};
    EXPECT_TRUE(b.it().list("", false)->empty());
    ::munmap(page, 4096);
}

}  // namespace
}  // namespace holdfast::sqlite_test
