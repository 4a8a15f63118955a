// holdfast list: the locks of a store, one a line.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "duration.hpp"
#include "json.hpp"
#include "output.hpp"
#include "text.hpp"

namespace holdfast::cli {
namespace {

struct list_options {
    std::string prefix;
    bool all = false;
};

constexpr std::size_t columns = 7;
using row = std::array<std::string, columns>;
const row titles{"NAME", "KIND", "HELD BY", "TOKEN", "FOR", "REMAINING", "WAITERS"};

row as_row(const lock_record& lock) {
    row out{shown(lock.name),
            to_string(lock.what),
            "-",
            fmt::format("{}", lock.token.value()),
            "-",
            "-",
            fmt::format("{}", lock.waiters.size())};
    if (lock.holders.empty()) return out;
    const holder_record& first = lock.holders.front();
    out[2] = shown(first.owner);
    if (lock.holders.size() > 1) out[2] += fmt::format(" +{}", lock.holders.size() - 1);
    out[4] = format_duration(first.held_for);
    out[5] = format_duration(first.remaining);
    return out;
}

/// Columns as wide as what is in them.
std::string table(const std::vector<row>& rows) {
    std::array<std::size_t, columns> widths{};
    const auto widen = [&](const row& each) {
        for (std::size_t i = 0; i < columns; ++i)
            widths.at(i) = std::max(widths.at(i), width(each.at(i)));
    };
    widen(titles);
    std::for_each(rows.begin(), rows.end(), widen);
    const painter paint{STDOUT_FILENO};
    std::string out;
    const auto add = [&](const row& each, colour which) {
        std::string line;
        for (std::size_t i = 0; i < columns; ++i) {
            line += each.at(i);
            if (i + 1 < columns) line.append(widths.at(i) - width(each.at(i)) + 2, ' ');
        }
        out += paint(which, line) + '\n';
    };
    add(titles, colour::bold);
    for (const row& each : rows) add(each, colour::plain);
    return out;
}

ending list(const program& with, const list_options& options) {
    result<client> from = try_open(with);
    if (!from) return fail(with, from.error());
    const result<std::vector<lock_record>> locks = from->list(options.prefix, options.all);
    if (!locks) return fail(with, locks.error());
    if (with.json) {
        boost::json::array all;
        for (const lock_record& each : *locks) all.push_back(to_json(each));
        print_json(STDOUT_FILENO, {{"store", shown(from->where())}, {"locks", std::move(all)}});
        return {};
    }
    if (locks->empty()) {
        print(options.all ? "no lock was ever used\n" : "no lock is held or waited for\n");
        return {};
    }
    std::vector<row> rows;
    for (const lock_record& each : *locks) rows.push_back(as_row(each));
    print(table(rows));
    return {};
}

}  // namespace

void add_list(CLI::App& app, program& with) {
    auto options = std::make_shared<list_options>();
    app.add_option("PREFIX", options->prefix, "Only names that start with this");
    app.add_flag("-a,--all", options->all, "Also names that are free now");
    add_common(app, with);
    with.action = [&with, options] { return list(with, *options); };
}

}  // namespace holdfast::cli
