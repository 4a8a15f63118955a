#include "chart.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "markup.hpp"
#include "verdict.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr double page_width = 1080;
constexpr double plot_left = 92;
constexpr double plot_right = page_width - 18;
constexpr double values_top = 14;
constexpr double values_height = 96;
constexpr double band_top = values_top + values_height + 18;
constexpr double band_height = 22;
constexpr double lanes_top = band_top + band_height + 20;
constexpr double gap_between_processes = 12;
/// What is too short to be seen is drawn this wide.
constexpr double least_width = 2.5;
/// Of a label's character, about.
constexpr double character_width = 5.4;

double milliseconds(const run& what, time_point at) {
    return std::chrono::duration<double, std::milli>(at - what.started).count();
}

/// One lane of the chart.
struct place {
    unsigned process = 1;
    unsigned thread = 1;
};
place place_of(const action& which) {
    return {which.process, which.thread};
}

const char* process_class(unsigned process) {
    return process == 1 ? "p1" : "p2";
}

/// Which actions went wrong, and with which others.
struct entanglement {
    bool wrong = false;  ///< the write is one too many, or was lost
    std::vector<std::size_t> others;
};

std::vector<entanglement> entanglements(const run& what) {
    std::vector<entanglement> out(what.actions.size());
    for (const mistake& each : what.mistakes) {
        // A second row is wrong itself; of two sales the overwritten one is what is missing.
        out[what.what == experiment::phones ? each.culprit : each.victim].wrong = true;
        out[each.culprit].others.push_back(each.victim);
        out[each.victim].others.push_back(each.culprit);
    }
    return out;
}

class drawing {
  public:
    drawing(const run& what, std::string_view id) : what_(what), id_(id) {
        for (const action& each : what.actions) {
            threads_ = std::max(threads_, each.thread);
            last_ = std::max(
                {last_, milliseconds(what, each.released), milliseconds(what, each.written_at)});
        }
        lane_height_ = threads_ <= 12 ? 15 : std::max(5.0, 180.0 / threads_);
    }

    std::string draw() {
        grid();
        what_.what == experiment::phones ? rows() : pieces();
        what_.locked ? holders() : crowd();
        lane_labels();
        marks();
        return fmt::format(
            R"(<svg class="chart" viewBox="0 0 {} {:.0f}" role="group" )"
            R"(aria-label="{}">{}</svg>)",
            page_width, lanes_bottom() + 34,
            html(what_.locked ? "Time line with the lock" : "Time line without the lock"), out_);
    }

  private:
    double x(double ms) const { return plot_left + ms / last_ * (plot_right - plot_left); }
    double x(time_point at) const { return x(milliseconds(what_, at)); }
    double lanes_bottom() const {
        return lanes_top + processes * threads_ * lane_height_ + gap_between_processes;
    }
    double lane_top(place of) const {
        const unsigned lane = (of.process - 1) * threads_ + of.thread - 1;
        return lanes_top + lane * lane_height_ + (of.process - 1) * gap_between_processes;
    }

    // Lines at round times (1, 2 or 5 and noughts), at most ten of them.
    void grid() {
        double decade = 0.1;
        while (last_ / decade > 100) decade *= 10;
        double step = decade;
        for (const double factor : {2.0, 5.0, 10.0}) {
            if (last_ / step > 10) step = decade * factor;
        }
        for (int i = 0; i * step <= last_; ++i) {
            const double at = x(i * step);
            out_ += line("grid", {at, values_top}, {at, lanes_bottom()});
            out_ += label("tick", {at, lanes_bottom() + 14}, fmt::format("{:g}", i * step));
        }
        out_ += label("unit", {plot_right, lanes_bottom() + 29}, "milliseconds since the start");
    }

    // --- what the database said ---

    std::vector<const action*> writes_in_order() const {
        std::vector<const action*> all;
        for (const action& each : what_.actions) {
            if (each.result == outcome::written) all.push_back(&each);
        }
        std::sort(all.begin(), all.end(),
                  [](const action* a, const action* b) { return a->version < b->version; });
        return all;
    }

    /// A scale from `low` to `high`, with its numbers.
    void value_scale(std::string_view name, double low, double high) {
        low_ = low;
        high_ = high;
        out_ += label("side", {plot_left - 34, values_top + values_height / 2}, name);
    }
    double y(double value) const {
        return values_top + (high_ - value) / (high_ - low_) * values_height;
    }
    void value_line(std::string_view css, double value) {
        out_ += line(css, {plot_left, y(value)}, {plot_right, y(value)});
        out_ += label("value", {plot_left - 6, y(value) + 3}, fmt::format("{:g}", value));
    }

    /// The line of zero; without its number if the scale is so long that the next one is too near.
    void axis() {
        const double next = what_.what == experiment::phones ? 1 : high_;
        if (y(0) - y(next) >= 10) {
            value_line("axis", 0);
        } else {
            out_ += line("axis", {plot_left, y(0)}, {plot_right, y(0)});
        }
    }

    void rows() {
        const auto writes = writes_in_order();
        value_scale("rows", 0, std::max<double>(2, static_cast<double>(writes.size())));
        axis();
        value_line("allowed", 1);
        if (high_ > 4) value_line("grid", high_);
        steps line_of_rows{{plot_left, y(0)}};
        double count = 0;
        for (const action* each : writes) line_of_rows.go_to({x(each->written_at), y(++count)});
        line_of_rows.go_to({plot_right, y(count)});
        out_ += line_of_rows.closed(count > 1 ? "area bad" : "area good", y(0));
        out_ += line_of_rows.open(count > 1 ? "values bad" : "values good");
    }

    // Two lines: what the database said, and what it should have said. Where they part, sales are
    // lost; where the second one is below zero, pieces were sold that were not there.
    void pieces() {
        const auto writes = writes_in_order();
        const auto start = static_cast<double>(what_.before.stock);
        const auto sold = static_cast<double>(writes.size());
        value_scale("stock", std::min(0.0, start - sold), start);
        value_line("grid", start);
        axis();
        if (low_ < 0) value_line("grid", low_);
        steps said{{plot_left, y(start)}};
        steps due{{plot_left, y(start)}};
        double count = 0;
        for (const action* each : writes) {
            said.go_to({x(each->written_at), y(static_cast<double>(each->left))});
            due.go_to({x(each->written_at), y(start - ++count)});
        }
        said.go_to({plot_right, y(static_cast<double>(what_.after.stock))});
        due.go_to({plot_right, y(start - count)});
        out_ += due.open(lost_updates(what_) > 0 ? "values due bad" : "values due good");
        out_ += said.open("values said");
    }

    // --- the band: the threads between reading and writing, or the holders ---

    void crowd() {
        std::vector<std::pair<time_point, int>> changes;
        for (const action& each : what_.actions) {
            changes.emplace_back(each.read_at, 1);
            changes.emplace_back(each.written_at, -1);
        }
        std::sort(changes.begin(), changes.end());
        const double bottom = band_top + band_height;
        const double unit = band_height / std::max<double>(1, static_cast<double>(what_.crowd));
        steps inside{{plot_left, bottom}};
        int count = 0;
        for (const auto& [at, change] : changes) {
            count += change;
            inside.go_to({x(at), bottom - std::max(0, count) * unit});
        }
        out_ += inside.closed("area crowd", bottom);
        out_ += label("side", {plot_left - 6, band_top + 10}, "inside");
        out_ += label("side faint", {plot_left - 6, band_top + 21},
                      fmt::format("up to {}", what_.crowd));
    }

    void holders() {
        for (const action& each : what_.actions) {
            if (each.token == fencing_token{} && each.result == outcome::failed) continue;
            const double from = x(each.granted);
            // A little less, so that two holds without a pause between them are seen as two.
            const double width = std::max(0.8, x(each.released) - from - 0.8);
            out_ += rectangle(fmt::format("held {}", process_class(each.process)),
                              {{from, band_top}, width, band_height});
            const std::string token = fmt::format("{}", each.token.value());
            if (width > static_cast<double>(token.size()) * character_width + 4) {
                out_ += label("on", {from + width / 2, band_top + 14.5}, token);
            }
        }
        out_ += label("side", {plot_left - 6, band_top + 10}, "lock held");
        out_ += label("side faint", {plot_left - 6, band_top + 21}, "token");
    }

    // --- a lane for each thread ---

    void lane_labels() {
        const unsigned every = lane_height_ >= 10 ? 1 : 5;
        for (unsigned process = 1; process <= processes; ++process) {
            const double top = lane_top({process, 1});
            const double height = threads_ * lane_height_;
            out_ += rectangle(fmt::format("side-bar {}", process_class(process)),
                              {{plot_left - 44, top + 1}, 3, height - 2});
            out_ += label("process", {plot_left - 50, top + height / 2}, "process");
            out_ += label("process number", {plot_left - 50, top + height / 2 + 16},
                          fmt::format("{}", process));
            for (unsigned thread = 1; thread <= threads_; ++thread) {
                const double at = lane_top({process, thread});
                out_ +=
                    line("lane", {plot_left, at + lane_height_}, {plot_right, at + lane_height_});
                if (thread % every == 0) {
                    out_ += label("thread", {plot_left - 6, at + lane_height_ / 2 + 3.2},
                                  fmt::format("T{}", thread));
                }
            }
        }
    }

    void marks() {
        const std::vector<entanglement> all = entanglements(what_);
        for (std::size_t i = 0; i < what_.actions.size(); ++i) mark(i, all[i]);
    }

    void mark(std::size_t which, const entanglement& with) {
        const action& of = what_.actions[which];
        std::string others;
        for (const std::size_t each : with.others) others += fmt::format(" {}-{}", id_, each);
        out_ += fmt::format(R"(<g class="mark {}{}" id="{}-{}" data-with="{}"><title>{}</title>)",
                            process_class(of.process), with.wrong ? " wrong" : "", id_, which,
                            others.empty() ? "" : others.substr(1), html(story(what_, which)));
        if (what_.locked) wait_of(of);
        body_of(of);
        out_ += "</g>";
    }

    void wait_of(const action& of) {
        const double from = x(of.asked);
        out_ += rectangle("wait", {{from, lane_top(place_of(of)) + lane_height_ / 2 - 1},
                                   std::max(0.0, x(of.granted) - from),
                                   2});
    }

    void body_of(const action& of) {
        const double from = x(what_.locked ? of.granted : of.read_at);
        const double to = x(what_.locked ? of.released : of.written_at);
        const bool wrote = of.result == outcome::written;
        const double inset = std::min(2.0, lane_height_ / 6);
        const box where{{from, lane_top(place_of(of)) + inset},
                        std::max(least_width, to - from),
                        lane_height_ - 2 * inset};
        out_ += rectangle(wrote ? "body" : "body idle", where);
        const std::string text = what_.what == experiment::stock
                                     ? fmt::format("{}→{}", of.seen, of.left)
                                     : fmt::format("row {}", of.version);
        // The arrow has three bytes and one character.
        const double room = static_cast<double>(text.size()) * character_width;
        if (wrote && lane_height_ >= 10 && where.width > room) {
            out_ += label("on",
                          {from + where.width / 2, lane_top(place_of(of)) + lane_height_ / 2 + 3.2},
                          text);
        }
    }

    const run& what_;
    std::string_view id_;
    unsigned threads_ = 1;
    double last_ = 1;  // ms, the end of the time line
    double lane_height_ = 15;
    double low_ = 0;
    double high_ = 1;
    std::string out_;
};

std::string what_it_did(const run& what, const action& of) {
    const bool phones = what.what == experiment::phones;
    switch (of.result) {
        case outcome::written:
            return phones ? fmt::format("found no row and wrote row {} by {}", of.version,
                                        moment(what, of.written_at))
                          : fmt::format("read {} and wrote {} by {} (sale {})", of.seen, of.left,
                                        moment(what, of.written_at), of.version);
        case outcome::nothing_to_do:
            return phones ? "found the number and had nothing to do"
                          : "found the stock empty and sold nothing";
        case outcome::stale:
            return "was refused by the database, which had seen a newer token";
        case outcome::failed:
            break;
    }
    return fmt::format("failed: {}", of.trouble);
}

}  // namespace

std::string chart(const run& what, std::string_view id) {
    return drawing{what, id}.draw();
}

std::string story(const run& what, std::size_t which) {
    const action& of = what.actions[which];
    std::string out;
    if (what.locked) {
        out = fmt::format(
            "{} asked for the lock at {} and held it from {} to {} with token {}. "
            "It {}.",
            actor(of), moment(what, of.asked), moment(what, of.granted), moment(what, of.released),
            of.token.value(), what_it_did(what, of));
    } else {
        out = fmt::format("{} looked at {}, {}.", actor(of), moment(what, of.read_at),
                          what_it_did(what, of));
    }
    for (const mistake& each : what.mistakes) {
        const std::size_t wrong = what.what == experiment::phones ? each.culprit : each.victim;
        if (wrong == which) out += " Wrong: " + each.text;
    }
    return out;
}

}  // namespace holdfast::cli::demo
