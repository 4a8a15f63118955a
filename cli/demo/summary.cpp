#include "summary.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "../text.hpp"
#include "verdict.hpp"
#include "wire.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr std::size_t mistakes_shown = 3;

struct row {
    std::string what;
    std::string without;
    std::string with;
};

/// Made of one number for each of the runs.
template <class Number>
row numbers(std::string what, const comparison& runs, Number number) {
    return {std::move(what), fmt::format("{}", number(runs.without)),
            fmt::format("{}", number(runs.with))};
}

std::vector<row> phone_rows(const comparison& runs) {
    return {
        numbers("rows before", runs, [](const run& r) { return r.before.rows; }),
        numbers("rows after", runs, [](const run& r) { return r.after.rows; }),
        numbers("duplicates", runs, duplicates),
    };
}

std::vector<row> stock_rows(const comparison& runs) {
    return {
        numbers("stock before", runs, [](const run& r) { return r.before.stock; }),
        numbers("sales", runs, [](const run& r) { return r.after.sales; }),
        numbers("stock after", runs, [](const run& r) { return r.after.stock; }),
        numbers("lost updates", runs, lost_updates),
        numbers("sold, but not there", runs, oversold),
    };
}

std::vector<row> common_rows(const comparison& runs) {
    return {
        numbers("between read and write at once", runs, [](const run& r) { return r.crowd; }),
        {"hand-overs between processes", "-", fmt::format("{}", runs.with.handovers)},
        numbers("took", runs, [](const run& r) { return moment(r, r.ended); }),
    };
}

std::string print_rows(const std::vector<row>& rows) {
    std::string out;
    for (const row& each : rows) {
        out += fmt::format("  {:<32}{:>18}{:>16}\n", each.what, each.without, each.with);
    }
    return out;
}

/// Padded before it is coloured: colours have no width.
std::string verdict_row(const comparison& runs) {
    const painter paint{STDOUT_FILENO};
    const auto word = [&](const run& r, std::size_t columns) {
        const std::string padded = fmt::format("{:>{}}", r.correct ? "right" : "WRONG", columns);
        return paint(r.correct ? colour::green : colour::red, padded);
    };
    return fmt::format("  {:<32}{}{}\n", "result", word(runs.without, 18), word(runs.with, 16));
}

std::string mistakes_in_words(const run& what) {
    if (what.mistakes.empty()) return {};
    const std::size_t shown_now = std::min(mistakes_shown, what.mistakes.size());
    std::string out =
        fmt::format("\n  What went wrong {} the lock, {} of {}:\n",
                    what.locked ? "WITH" : "without", shown_now, what.mistakes.size());
    for (std::size_t i = 0; i < shown_now; ++i) {
        out += fmt::format("  - {}\n", what.mistakes[i].text);
    }
    return out;
}

/// The first action that failed tells most.
std::string trouble_in_words(const run& what) {
    for (const action& each : what.actions) {
        if (!each.trouble.empty()) {
            return fmt::format(
                "\n  {} of {} actions failed or were refused; the first trouble: "
                "{}: {}\n",
                what.failures, what.actions.size(), actor(each), shown(each.trouble));
        }
    }
    return {};
}

boost::json::object to_json(const contents& what) {
    return {{"rows", what.rows}, {"stock", what.stock}, {"sales", what.sales}};
}

boost::json::object to_json(const run& what) {
    boost::json::object out;
    out["experiment"] = name_of(what.what);
    out["locked"] = what.locked;
    out["attempt"] = what.attempt;
    out["correct"] = what.correct;
    out["before"] = to_json(what.before);
    out["after"] = to_json(what.after);
    out["duplicates"] = duplicates(what);
    out["lost_updates"] = lost_updates(what);
    out["oversold"] = oversold(what);
    out["at_once"] = what.crowd;
    out["handovers"] = what.handovers;
    out["overlapping_holds"] = what.overlaps;
    out["failures"] = what.failures;
    out["started_ns"] = what.started.time_since_epoch().count();
    out["took_ns"] = (what.ended - what.started).count();
    boost::json::array actions;
    for (const action& each : what.actions) actions.push_back(to_json(each));
    out["actions"] = std::move(actions);
    boost::json::array mistakes;
    for (const mistake& each : what.mistakes) mistakes.push_back(boost::json::string{each.text});
    out["mistakes"] = std::move(mistakes);
    return out;
}

}  // namespace

comparison runs_of(const report& all, experiment what) {
    const run* without = nullptr;
    const run* with = nullptr;
    for (const run& each : all.runs) {
        if (each.what == what) (each.locked ? with : without) = &each;
    }
    if (without == nullptr || with == nullptr) throw std::logic_error("there are not both runs");
    return {*without, *with};
}

std::string title(experiment what) {
    return what == experiment::phones ? "One row per phone number"
                                      : fmt::format("A stock of {} pieces", stock_at_start);
}

std::string task(const report& all, experiment what) {
    return what == experiment::phones
               ? fmt::format("look whether {} is in the table, enter it if not", all.phone)
               : fmt::format("read how many of {} are there, write one less", all.item);
}

std::string luck(const comparison& runs) {
    const unsigned attempt = runs.without.attempt;
    if (runs.without.correct) {
        return fmt::format(
            "Without the lock it came out right by chance, {} times in a row, "
            "although nothing kept it so. That is how such a mistake passes a test.",
            attempt);
    }
    if (attempt == 1) return {};
    return fmt::format(
        "Without the lock it came out right by chance at first; this is attempt {}, "
        "with more time to think.",
        attempt);
}

std::string introduction(const report& all) {
    return fmt::format(
        "{} processes with {} threads each work on one database file, every thread twice:\n"
        "read, think for a moment, write. First without a lock, then with one.\n",
        processes, all.threads);
}

std::string table(const report& all, experiment what) {
    const painter paint{STDOUT_FILENO};
    const comparison runs = runs_of(all, what);
    std::string out =
        fmt::format("\n{}: {}\n\n", paint(colour::bold, title(what)), task(all, what));
    out += fmt::format("  {:<32}{:>18}{:>16}\n", "", "without the lock", "with the lock");
    out += print_rows(what == experiment::phones ? phone_rows(runs) : stock_rows(runs));
    out += print_rows(common_rows(runs));
    out += verdict_row(runs);
    if (const std::string said = luck(runs); !said.empty()) out += fmt::format("\n  {}\n", said);
    for (const run* each : {&runs.without, &runs.with}) {
        out += mistakes_in_words(*each);
        out += trouble_in_words(*each);
    }
    return out;
}

std::string conclusion(const report& all) {
    const painter paint{STDOUT_FILENO};
    std::string out = "\n";
    for (const bool locked : {false, true}) {
        out += locked ? "With the lock:    " : "Without the lock: ";
        for (const experiment what : {experiment::phones, experiment::stock}) {
            const comparison runs = runs_of(all, what);
            out += verdict(locked ? runs.with : runs.without);
            out += what == experiment::phones ? "; " : ".";
        }
        out += '\n';
    }
    out += is_correct(all) ? paint(colour::green, "With the lock everything is right.")
                           : paint(colour::red, "With the lock something is WRONG.");
    return out + '\n';
}

bool is_correct(const report& all) {
    return std::all_of(all.runs.begin(), all.runs.end(),
                       [](const run& each) { return !each.locked || each.correct; });
}

boost::json::object to_json(const report& all) {
    boost::json::object out;
    out["correct"] = is_correct(all);
    out["store"] = shown(all.store);
    out["fencing"] = all.fencing;
    out["processes"] = processes;
    out["threads"] = all.threads;
    // As text: more digits than JavaScript's numbers keep.
    out["seed"] = fmt::format("{}", all.seed);
    boost::json::array runs;
    for (const run& each : all.runs) runs.push_back(to_json(each));
    out["runs"] = std::move(runs);
    return out;
}

}  // namespace holdfast::cli::demo
