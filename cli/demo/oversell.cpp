#include "oversell.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../json.hpp"
#include "../output.hpp"
#include "../text.hpp"
#include "database.hpp"
#include "page.hpp"
#include "referee.hpp"
#include "summary.hpp"
#include "verdict.hpp"
#include "workplace.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr unsigned threads_max = 50;
/// How often a run without the lock is repeated in the hope that it goes wrong.
constexpr unsigned attempts_max = 4;
constexpr think_time first_think{std::chrono::milliseconds{1}, std::chrono::milliseconds{4}};
constexpr int more_think = 3;

struct choices {
    std::string html;
    bool keep = false;
    unsigned threads = 10;
    std::optional<std::uint64_t> seed;
};

class demonstration {
  public:
    demonstration(const program& with, const choices& chosen)
        : place_(chosen.keep ? leftovers::keep : leftovers::remove), store_(store_url(with)) {
        if (store_.empty()) store_ = "sqlite:" + (place_.data() / "locks" / "locks.db").string();
        std::random_device source;
        found_.seed = chosen.seed.value_or(source());
        // Other demos may use the same store at the same time.
        lock_suffix_ = fmt::format("{:08x}{:08x}", source(), source());
        found_.threads = chosen.threads;
        found_.phone = phone_number;
        found_.item = item_name;
        std::array<char, 256> host{};
        if (::gethostname(host.data(), host.size() - 1) == 0) found_.host = host.data();
    }

    void perform(experiment what) {
        think_time think = first_think;
        for (unsigned attempt = 1; attempt <= attempts_max; ++attempt) {
            run next{.what = what, .attempt = attempt, .think = think};
            if (!perform(next).correct) break;
            think.least *= more_think;
            think.most *= more_think;
        }
        perform(run{.what = what, .locked = true, .think = first_think});
    }

    const report& found() const noexcept { return found_; }
    const workplace& place() const noexcept { return place_; }

  private:
    const run& perform(run next) {
        const std::string name(name_of(next.what));
        const std::string file = next.locked
                                     ? name + "-with-lock.db"
                                     : fmt::format("{}-without-lock-{}.db", name, next.attempt);
        const std::string path = place_.data() / file;
        database::create(path);
        database examined{path};
        next.before = examined.all();
        std::array<orders, processes> all;
        for (unsigned i = 0; i < processes; ++i) all.at(i) = orders_for(i + 1, next, path);
        teamwork done = run_team(all, by_user_);
        next.after = examined.all();
        next.started = done.started;
        next.ended = done.ended;
        next.actions = std::move(done.actions);
        if (next.locked) {
            found_.store = done.store.store;
            found_.fencing = done.store.fencing;
        }
        judge(next);
        return found_.runs.emplace_back(std::move(next));
    }

    orders orders_for(unsigned process, const run& next, const std::string& path) const {
        const std::string lock =
            fmt::format("demo:oversell:{}:{}", name_of(next.what), lock_suffix_);
        return {.what = next.what,
                .database = path,
                .store = store_,
                .lock = next.locked ? lock : std::string{},
                .process = process,
                .threads = found_.threads,
                .think = next.think,
                .seed = found_.seed + next.attempt};
    }

    interruptions by_user_;
    workplace place_;
    std::string store_;
    std::string lock_suffix_;
    report found_;
};

void write_page(const std::string& path, const report& all) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << page(all);
    file.close();
    if (!file) throw std::system_error(errno, std::generic_category(), "cannot write " + path);
}

/// The store must be one that two processes share.
void check_store(const program& with) {
    if (store_url(with).starts_with("memory:")) {
        throw usage_error(
            "memory: lives inside one process, and the demo shows two; name another store, or "
            "none");
    }
}

ending oversell(const program& with, const choices& chosen) {
    check_store(with);
    demonstration demo{with, chosen};
    if (!with.json) print(introduction(demo.found()));
    for (const experiment what : {experiment::phones, experiment::stock}) {
        demo.perform(what);
        if (!with.json) print(table(demo.found(), what));
    }
    const std::string path = chosen.html.empty() ? demo.place().page().string() : chosen.html;
    write_page(path, demo.found());
    if (with.json) {
        boost::json::object all = to_json(demo.found());
        all["page"] = shown(path);
        if (chosen.keep) all["data"] = shown(demo.place().data().string());
        print_json(STDOUT_FILENO, all);
    } else {
        print(conclusion(demo.found()));
        print(fmt::format("\nlocks  {}\nseed   {}\npage   {}\n", shown(demo.found().store),
                          demo.found().seed, shown(path)));
        if (chosen.keep) print(fmt::format("data   {}\n", shown(demo.place().data().string())));
    }
    return {is_correct(demo.found()) ? exit_code::ok : 1};
}

}  // namespace

void add_oversell(CLI::App& app, program& with) {
    auto chosen = std::make_shared<choices>();
    app.add_option("--html", chosen->html,
                   "Where to write the page with the time lines (default: a temporary directory)")
        ->type_name("FILE")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    app.add_flag("--keep", chosen->keep, "Keep the databases, and say where they are");
    app.add_option("--threads", chosen->threads, "Threads in each of the two processes")
        ->check(CLI::Range(1U, threads_max))
        ->capture_default_str();
    app.add_option("--seed", chosen->seed, "For the time that each thread thinks");
    app.add_option("--store", with.store,
                   "The store of the locks (default: $HOLDFAST_STORE, else a file of the demo)")
        ->type_name("URL");
    app.add_flag("--json", with.json, "Answer in JSON, one object on one line");
    with.action = [&with, chosen] {
        try {
            return oversell(with, *chosen);
        } catch (const lock_error& failed) {
            return fail(with, failed.info());
        } catch (const interrupted& by_user) {
            return ending{.signal = by_user.signal};
        }
    };
}

}  // namespace holdfast::cli::demo
