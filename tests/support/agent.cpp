// A process that holds locks on command: reads commands from its standard input, a line each, and
// answers a line each. What happens to its holds goes into a history that survives its death.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/history.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

void say(const std::string& line) {
    static std::mutex mutex;
    const std::lock_guard guard{mutex};
    std::cout << line << std::endl;
}

std::string code_of(const failure& why) {
    return std::to_string(static_cast<int>(why.code));
}

// "mutex", "shared", "exclusive" or "permits:2/5".
struct wanted {
    std::string kind;
    std::string name;
    acquire_options how;
};

result<lease> take(const client& from, const wanted& what) {
    if (what.kind == "shared") return shared_mutex{from, what.name}.try_acquire_shared(what.how);
    if (what.kind == "exclusive") return shared_mutex{from, what.name}.try_acquire(what.how);
    if (what.kind.starts_with("permits:")) {
        const auto count = static_cast<std::uint32_t>(what.kind[8] - '0');
        const auto capacity = static_cast<std::uint32_t>(what.kind[10] - '0');
        return semaphore{from, what.name, capacity}.try_acquire(count, what.how);
    }
    return mutex{from, what.name}.try_acquire(what.how);
}

class agent {
  public:
    agent(const std::string& log, const std::string& number) : log_(log), number_(number) {}

    // False at the end.
    bool obey(const std::string& line) {
        std::istringstream words{line};
        std::string verb;
        words >> verb;
        const auto found = verbs_.find(verb);
        if (found == verbs_.end()) {
            say("what? " + line);
            return true;
        }
        found->second(words);
        return !ended_;
    }

  private:
    struct holding {
        std::uint64_t number = 0;
        bool ended = false;  ///< the lease is being released: no callback may look at it any more
        std::optional<lease> held;
        std::unique_ptr<std::stop_callback<std::function<void()>>> on_loss;
    };

    static std::int64_t ns(time_point when) { return when.time_since_epoch().count(); }

    void note(deed what, const lease& held, std::uint64_t handle, time_point from = {},
              std::uint64_t value = 0) {
        entry& line = log_.begin(what, held.name());
        line.process = static_cast<std::uint64_t>(::getpid());
        line.handle = handle;
        line.token = held.token().value();
        line.value = value;
        line.from = ns(from);
        line.at = ns(boot_clock::now());
        line.until = ns(held.expires_at());
        line.shared = held.how() == access::shared;
        line.permits = held.permits();
        history_log::end(line);
    }

    void keep(const std::string& handle, lease got, time_point from) {
        const std::lock_guard guard{mutex_};
        holding& one = holdings_[handle];
        one.number = ++next_;
        one.ended = false;
        note(deed::acquired, got, one.number, from);
        one.held = std::move(got);
        one.on_loss = std::make_unique<std::stop_callback<std::function<void()>>>(
            one.held->lost(), [this, handle, &one] {
                const std::lock_guard inner{mutex_};
                if (!one.ended) {
                    note(deed::lost, *one.held, one.number, {},
                         static_cast<std::uint64_t>(one.held->loss()));
                }
                say("lost " + handle + " " + std::to_string(ns(boot_clock::now())));
            });
        say("granted " + handle + " " + std::to_string(one.held->token().value()) + " " +
            std::to_string(ns(boot_clock::now())));
    }

    // Other handles may come meanwhile; one handle belongs to the thread that obeys.
    holding& of(std::istringstream& words) {
        std::string handle;
        words >> handle;
        const std::lock_guard guard{mutex_};
        return holdings_.at(handle);
    }

    wanted read_wanted(std::istringstream& words) {
        wanted what;
        std::string option;
        words >> what.kind >> what.name;
        what.how.wait = forever;
        while (words >> option) {
            if (option == "manual") what.how.renew = renewal::manual;
            if (option.starts_with("wait=")) {
                what.how.wait = std::chrono::milliseconds{std::stol(option.substr(5))};
            }
        }
        return what;
    }

    void get(std::istringstream& words) {
        std::string handle;
        words >> handle;
        const auto what = read_wanted(words);
        const auto from = boot_clock::now();
        auto got = take(*client_, what);
        got ? keep(handle, *std::move(got), from) : say("failed " + code_of(got.error()));
    }

    void ask(std::istringstream& words) {
        std::string handle;
        words >> handle;
        const auto what = read_wanted(words);
        const auto from = boot_clock::now();
        mutex{*client_, what.name}.async_acquire(what.how, [this, handle, from](result<lease> got) {
            got ? keep(handle, *std::move(got), from) : say("failed " + code_of(got.error()));
        });
        say("asked");
    }

    void write(std::istringstream& words) {
        holding& one = of(words);
        const bool accepted = number_.add(one.held->token().value());
        note(accepted ? deed::wrote : deed::refused, *one.held, one.number);
        say(accepted ? "written" : "refused");
    }

    void release(std::istringstream& words) {
        holding& one = of(words);
        {
            const std::lock_guard guard{mutex_};
            if (one.held->held()) note(deed::releasing, *one.held, one.number);
            one.ended = true;
        }
        const auto released = one.held->try_release();
        say(released ? "released" : "failed " + code_of(released.error()));
    }

    // COUNT rounds in each of THREADS threads, each one adding to the number under the lock.
    void work(std::istringstream& words) {
        std::size_t threads = 0;
        std::size_t count = 0;
        words >> threads >> count;
        const auto what = read_wanted(words);
        std::atomic<std::size_t> done = 0;
        {
            std::vector<std::jthread> running;
            for (std::size_t i = 0; i < threads; ++i) {
                running.emplace_back([&] {
                    for (std::size_t round = 0; round < count; ++round) done += one_round(what);
                });
            }
        }
        say("done " + std::to_string(done));
    }

    std::size_t one_round(const wanted& what) {
        const auto from = boot_clock::now();
        auto got = take(*client_, what);
        if (!got) return 0;
        const std::uint64_t handle = ++next_;
        note(deed::acquired, *got, handle, from);
        std::mutex mutex;
        bool ended = false;
        const std::stop_callback on_loss{got->lost(), [&] {
                                             const std::lock_guard guard{mutex};
                                             if (!ended) note(deed::lost, *got, handle);
                                         }};
        if (what.kind == "mutex" || what.kind == "exclusive") {
            const bool accepted = number_.add(got->token().value());
            note(accepted ? deed::wrote : deed::refused, *got, handle);
        }
        {
            const std::lock_guard guard{mutex};
            if (got->held()) note(deed::releasing, *got, handle);
            ended = true;
        }
        return got->try_release() ? 1 : 0;
    }

    // The child tries to use and to harm what it inherited, tells how that went, and stays.
    void fork_child(std::istringstream& words) {
        holding& one = of(words);
        const pid_t child = ::fork();
        if (child != 0) return;
        const bool harmless =
            !one.held->held() && one.held->try_renew().error().code == errc::forked &&
            one.held->try_release().error().code == errc::forked && client_->shutdown() == 0;
        say("child " + std::to_string(::getpid()) + (harmless ? " harmless" : " harmful"));
        for (;;) ::pause();
    }

    std::map<std::string, std::function<void(std::istringstream&)>> verbs_{
        {"open",
         [this](std::istringstream& words) {
             std::string url;
             long ttl = 0;
             words >> url >> ttl;
             auto opened = client::try_open(url, {.ttl = std::chrono::milliseconds{ttl}});
             if (opened) client_ = *opened;
             say(opened ? "opened" : "failed " + opened.error().message());
         }},
        {"get", [this](std::istringstream& words) { get(words); }},
        {"ask", [this](std::istringstream& words) { ask(words); }},
        {"write", [this](std::istringstream& words) { write(words); }},
        {"release", [this](std::istringstream& words) { release(words); }},
        {"work", [this](std::istringstream& words) { work(words); }},
        {"fork", [this](std::istringstream& words) { fork_child(words); }},
        {"now",
         [](std::istringstream&) {
             const auto first = std::chrono::system_clock::now();
             const auto step = std::chrono::abs(std::chrono::system_clock::now() - first);
             say(step > 1h ? "wild" : "tame");
         }},
        {"held",
         [this](std::istringstream& words) { say(of(words).held->held() ? "held" : "not held"); }},
        {"orphan",
         [this](std::istringstream& words) {
             say(of(words).held->try_orphan() ? "orphaned" : "failed");
         }},
        {"export",
         [this](std::istringstream& words) {
             auto written = of(words).held->try_export_ticket();
             say(written ? "ticket " + written->text : "failed " + code_of(written.error()));
         }},
        {"adopt",
         [this](std::istringstream& words) {
             std::string handle;
             ticket from;
             words >> handle >> from.text;
             auto got = client_->try_adopt(from);
             got ? keep(handle, *std::move(got), boot_clock::now())
                 : say("failed " + code_of(got.error()));
         }},
        // Whatever is held stays in static storage and is destroyed by exit().
        {"exit", [](std::istringstream&) { std::exit(7); }},
        {"return", [this](std::istringstream&) { ended_ = true; }},
    };

    history_log log_;
    guarded_number number_;
    std::optional<client> client_;
    std::recursive_mutex mutex_;  // a loss may be told inside a call
    std::map<std::string, holding> holdings_;
    std::atomic<std::uint64_t> next_{0};
    bool ended_ = false;
};

}  // namespace
}  // namespace holdfast::tests

int main(int count, char** arguments) {
    if (count != 3) return 2;
    // Destroyed by exit() and by the return from main, like a user's global client.
    static holdfast::tests::agent obedient{arguments[1], arguments[2]};
    holdfast::tests::say("ready");
    std::string line;
    while (std::getline(std::cin, line)) {
        if (!obedient.obey(line)) return 8;
    }
    return 0;
}
