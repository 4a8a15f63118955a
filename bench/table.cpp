#include "table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace holdfast::bench {
namespace {

constexpr std::size_t columns = 7;
using cells = std::array<std::string, columns>;

std::string number(double value) {
    if (std::isnan(value)) return "-";
    const double size = std::abs(value);
    const int digits = size >= 100 || value == std::floor(value) ? 0 : size >= 10 ? 1 : 2;
    return fmt::format("{:.{}f}", value, digits);
}

std::string shown(const figure& it) {
    return std::isnan(it.value) ? std::string{} : number(it.value);
}

std::string shown(const std::vector<figure>& peers) {
    std::string text;
    for (const auto& peer : peers) {
        if (std::isnan(peer.value)) continue;
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", number(peer.value), peer.way);
    }
    return text;
}

std::string shown(const comparison& ratio, const goal& aim) {
    if (std::isnan(ratio.median)) return {};
    const char* sign = aim.by == compared::difference_at_most ? "+" : "";
    return fmt::format("{}{} ({}..{})", sign, number(ratio.median), number(ratio.lowest),
                       number(ratio.highest));
}

std::string shown(const goal& aim) {
    switch (aim.by) {
        case compared::nothing:
            return {};
        case compared::ratio_at_least:
            return fmt::format(">= {:.2f}", aim.limit);
        case compared::ratio_at_most:
            return fmt::format("<= {:.2f}", aim.limit);
        case compared::difference_at_most:
            return fmt::format("<= +{}", number(aim.limit));
        case compared::value_at_most:
            return fmt::format("ours <= {}", number(aim.limit));
    }
    return {};
}

std::string verdict(const measured_row& row) {
    const auto text = shown(row.of.aim);
    if (text.empty()) return {};
    return text + (row.met ? "  met" : "  MISSED");
}

cells line_of(const measured_row& row) {
    return {row.work + ", " + row.of.name,
            row.of.unit,
            shown(row.floor),
            shown(row.peers),
            shown(row.ours),
            shown(row.ratio, row.of.aim),
            verdict(row)};
}

// Of the characters: "µ" is two bytes, and so is nothing else here.
std::size_t width_of(const std::string& cell) {
    return cell.size() - static_cast<std::size_t>(std::ranges::count(cell, '\xc2'));
}

}  // namespace

std::string table(const std::vector<measured_row>& rows) {
    std::vector<cells> lines{{"work", "unit", "floor", "peers", "ours", "ratio", "goal"}};
    for (const auto& row : rows) lines.push_back(line_of(row));
    std::array<std::size_t, columns> widths{};
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < columns; ++i) {
            widths[i] = std::max(widths[i], width_of(line[i]));
        }
    }
    std::string text;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i + 1 < columns; ++i) {
            text += fmt::format("{:<{}}  ", line[i], widths[i]);
        }
        text += line.back();
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::string missed(const measured_row& row) {
    const bool alone = row.of.aim.by == compared::value_at_most;
    const auto got = alone ? number(row.ours.value) : shown(row.ratio, row.of.aim);
    return fmt::format("{}, {}: {} {} {}, goal {}", row.work, row.of.name,
                       alone ? "ours" : "against the floor", got.empty() ? "nothing" : got,
                       row.of.unit, shown(row.of.aim));
}

}  // namespace holdfast::bench
