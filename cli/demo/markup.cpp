#include "markup.hpp"

#include <fmt/format.h>

#include "../text.hpp"

namespace holdfast::cli::demo {

std::string html(std::string_view text) {
    std::string out;
    for (const char c : shown(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string rectangle(std::string_view css, const box& where) {
    return fmt::format(R"(<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>)",
                       css, where.at.x, where.at.y, where.width, where.height);
}

std::string line(std::string_view css, point from, point to) {
    return fmt::format(R"(<line class="{}" x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}"/>)", css,
                       from.x, from.y, to.x, to.y);
}

std::string label(std::string_view css, point at, std::string_view text) {
    return fmt::format(R"(<text class="{}" x="{:.2f}" y="{:.2f}">{}</text>)", css, at.x, at.y,
                       html(text));
}

steps::steps(point start)
    : start_(start), last_(start), path_(fmt::format("M{:.2f} {:.2f}", start.x, start.y)) {
}

void steps::go_to(point next) {
    path_ += fmt::format("H{:.2f}V{:.2f}", next.x, next.y);
    last_ = next;
}

std::string steps::open(std::string_view css) const {
    return fmt::format(R"(<path class="{}" d="{}"/>)", css, path_);
}

std::string steps::closed(std::string_view css, double base) const {
    return fmt::format(R"(<path class="{}" d="{}V{:.2f}H{:.2f}Z"/>)", css, path_, base, start_.x);
}

}  // namespace holdfast::cli::demo
