#include "worker.hpp"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "../output.hpp"
#include "../program.hpp"
#include "database.hpp"
#include "wire.hpp"

namespace holdfast::cli::demo {
namespace {

/// A wait for the lock that takes longer has failed; the whole run takes less than a second.
constexpr std::chrono::seconds patience{30};

/// One line from standard input, without what follows it; empty at its end.
std::string read_line() {
    std::string out;
    char c = 0;
    while (::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') out += c;
    return out;
}

/// One thread of a worker.
class seller {
  public:
    seller(const orders& told, unsigned thread, std::optional<mutex> guard)
        : told_(told),
          thread_(thread),
          guard_(std::move(guard)),
          database_(told.database),
          random_(told.seed ^ (std::uint64_t{told.process} << 32U) ^ thread) {}

    void work() {
        for (unsigned i = 0; i < actions_per_thread; ++i) done_.push_back(act());
    }
    const std::vector<action>& done() const noexcept { return done_; }

  private:
    action act() {
        action now;
        now.process = told_.process;
        now.thread = thread_;
        now.asked = boot_clock::now();
        if (guard_) {
            guarded(now);
        } else {
            now.granted = now.asked;
            business(now, nullptr);
            now.released = boot_clock::now();
        }
        return now;
    }

    void guarded(action& now) {
        result<lease> held = guard_->try_acquire({.wait = patience, .label = actor(now)});
        now.granted = boot_clock::now();
        if (held) {
            now.token = held->token();
            business(now, &*held);
        } else {
            now.read_at = now.written_at = now.granted;
            now.trouble = held.error().message();
        }
        now.released = boot_clock::now();
        if (!held) return;
        if (const result<void> freed = held->try_release(); !freed) {
            now.trouble = freed.error().message();
        }
    }

    void business(action& now, const lease* held) {
        now.read_at = boot_clock::now();
        try {
            read_and_write(now, held);
        } catch (const std::exception& failed) {
            now.trouble = failed.what();
        }
        now.written_at = boot_clock::now();
    }

    // Reads, thinks, writes what follows from what was read. Nothing is wrong with it as long as
    // nobody else does the same meanwhile.
    void read_and_write(action& now, const lease* held) {
        const reading found = database_.look(told_.what);
        now.seen = found.value;
        now.seen_version = found.version;
        const bool wanted = told_.what == experiment::phones ? found.value == 0 : found.value > 0;
        if (!wanted) {
            now.result = outcome::nothing_to_do;
            return;
        }
        think();
        if (held != nullptr && !held->held()) {
            throw std::runtime_error(fmt::format("lost the lock: {}", to_string(held->loss())));
        }
        write(now);
    }

    void write(action& now) {
        std::optional<std::int64_t> version;
        if (told_.what == experiment::phones) {
            now.left = 1;
            version = database_.enter_number(actor(now), now.token);
        } else {
            now.left = now.seen - 1;
            version = database_.sell(now.left, actor(now), now.token);
        }
        now.version = version.value_or(0);
        now.result = version ? outcome::written : outcome::stale;
    }

    void think() {
        std::uniform_int_distribution<duration::rep> between{told_.think.least.count(),
                                                             told_.think.most.count()};
        std::this_thread::sleep_for(duration{between(random_)});
    }

    const orders& told_;
    unsigned thread_;
    std::optional<mutex> guard_;
    database database_;
    std::mt19937_64 random_;
    std::vector<action> done_;
};

/// The threads, which stand ready until they are let go together.
class crew {
  public:
    crew(const orders& told, const std::optional<mutex>& guard) : ready_(told.threads) {
        for (unsigned i = 1; i <= told.threads; ++i) {
            sellers_.push_back(std::make_unique<seller>(told, i, guard));
        }
        for (const auto& each : sellers_) {
            threads_.emplace_back([this, &each = *each] {
                ready_.count_down();
                start_.wait();
                each.work();
            });
        }
        ready_.wait();
    }

    std::vector<action> run() {
        start_.count_down();
        threads_.clear();
        std::vector<action> all;
        for (const auto& each : sellers_) {
            all.insert(all.end(), each->done().begin(), each->done().end());
        }
        return all;
    }

  private:
    std::latch ready_;
    std::latch start_{1};
    std::vector<std::unique_ptr<seller>> sellers_;
    std::vector<std::jthread> threads_;
};

void obey(const orders& told) {
    readiness now;
    std::optional<mutex> guard;
    if (!told.lock.empty()) {
        const client locks = client::open(told.store, {.label = "oversell"});
        guard.emplace(locks, told.lock);
        now = {locks.where(), locks.caps().fencing};
    }
    crew sellers{told, guard};
    print(to_line(now));
    // The referee is gone if it does not say so. Its files may be gone too, and nothing was begun.
    if (read_line() != "go") ::_exit(exit_code::internal);
    print(to_line(sellers.run()));
}

}  // namespace

int work() {
    try {
        obey(read_orders(read_line()));
        return exit_code::ok;
    } catch (const lock_error& failed) {
        print(to_line(failed.info()));
        return code_for(failed.reason());
    }
}

}  // namespace holdfast::cli::demo
