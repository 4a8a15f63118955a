#include "page.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "chart.hpp"
#include "markup.hpp"
#include "page_assets.hpp"
#include "summary.hpp"
#include "verdict.hpp"

namespace holdfast::cli::demo {
namespace {

/// The rest is folded away.
constexpr std::size_t mistakes_open = 4;

// Nothing is loaded from anywhere, whatever somebody may have smuggled into a text.
constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>holdfast: overselling, without a lock and with one</title>
)";

constexpr std::string_view hatch = R"svg(<svg class="defs" aria-hidden="true"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"
 patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/>
<line class="hatch-line" x1="0" y1="0" x2="0" y2="6"/></pattern></defs></svg>
)svg";

const char* mood(const run& what) {
    return what.correct ? "good" : "bad";
}
const char* when(const run& what) {
    return what.locked ? "With the lock" : "Without the lock";
}

std::string fact(std::string_view name, std::string_view value) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", html(name), html(value));
}
template <class Number>
std::string fact(std::string_view name, Number value) {
    return fact(name, std::string_view(fmt::format("{}", value)));
}

std::string facts(const run& what) {
    std::string out;
    if (what.what == experiment::phones) {
        out += fact("rows before", what.before.rows);
        out += fact("rows after", what.after.rows);
        out += fact("duplicates", duplicates(what));
    } else {
        out += fact("stock before", what.before.stock);
        out += fact("sales", what.after.sales);
        out += fact("stock after", what.after.stock);
        out += fact("lost updates", lost_updates(what));
        out += fact("sold, but not there", oversold(what));
    }
    if (what.locked) out += fact("hand-overs between processes", what.handovers);
    return out + fact("took", moment(what, what.ended));
}

std::string outcome_card(const run& what) {
    return fmt::format(R"(<div class="outcome {}"><div class="what">{}</div>)"
                       R"(<div class="found">{}</div><dl>{}</dl></div>)",
                       mood(what), when(what), html(verdict(what)), facts(what));
}

/// A small piece of a chart, and what it means.
std::string explained(std::string_view sample, std::string_view text) {
    return fmt::format(R"(<li><svg viewBox="0 0 26 12" aria-hidden="true">{}</svg>{}</li>)", sample,
                       html(text));
}

std::string sample_bar(std::string_view css) {
    return fmt::format(R"(<g class="{}">{}</g>)", css, rectangle("body", {{1, 1}, 24, 10}));
}

std::string legend(const run& what) {
    std::string out;
    if (what.what == experiment::stock) {
        out += explained(line("values said", {0, 6}, {26, 6}), "stock in the database");
        out += explained(
            line(lost_updates(what) > 0 ? "values due bad" : "values due good", {0, 6}, {26, 6}),
            "10 minus all sales: what it should be");
    } else {
        out += explained(line("allowed", {0, 6}, {26, 6}), "the one row that may be");
    }
    const std::string_view bar = what.locked ? "holds the lock" : "from its read to its write";
    out += explained(sample_bar("p1"), fmt::format("process 1 {}", bar));
    out += explained(sample_bar("p2"), fmt::format("process 2 {}", bar));
    if (what.locked) {
        out += explained(fmt::format(R"(<g class="p1">{}</g>)", rectangle("wait", {{0, 5}, 26, 2})),
                         "waits for it");
    }
    if (!what.mistakes.empty()) {
        out += explained(sample_bar("wrong"), what.what == experiment::phones
                                                  ? "entered the number once more"
                                                  : "its sale was overwritten and is lost");
    }
    return fmt::format(R"(<ul class="legend">{}</ul>)", out);
}

std::string mistake_items(const run& what, std::string_view id, std::size_t from, std::size_t to) {
    std::string out;
    for (std::size_t i = from; i < to; ++i) {
        const mistake& each = what.mistakes[i];
        out += fmt::format(R"(<li data-with="{0}-{1} {0}-{2}">{3}</li>)", id, each.victim,
                           each.culprit, html(each.text));
    }
    return out;
}

std::string mistake_list(const run& what, std::string_view id) {
    if (what.mistakes.empty()) return {};
    const std::size_t count = what.mistakes.size();
    const std::size_t open = std::min(mistakes_open, count);
    std::string out = fmt::format(R"(<h3>Where it went wrong</h3><ol class="mistakes">{}</ol>)",
                                  mistake_items(what, id, 0, open));
    if (open < count) {
        out += fmt::format(R"(<details><summary>and {} more</summary>)"
                           R"(<ol class="mistakes" start="{}">{}</ol></details>)",
                           count - open, open + 1, mistake_items(what, id, open, count));
    }
    return out;
}

std::string action_table(const run& what) {
    std::string rows;
    for (const action& each : what.actions) {
        const bool wrote = each.result == outcome::written;
        rows += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            "<td>{}</td><td>{}</td></tr>",
            html(actor(each)), moment(what, each.asked), moment(what, each.granted),
            each.token.value(), moment(what, each.read_at), each.seen,
            wrote ? fmt::format("{}", each.left) : "", moment(what, each.released),
            html(each.trouble));
    }
    return fmt::format(
        "<details><summary>All {} actions as a table</summary><div class=\"scroll\"><table><thead>"
        "<tr><th>who</th><th>began</th><th>entered</th><th>token</th><th>read at</th><th>read</th>"
        "<th>wrote</th><th>ended</th><th>trouble</th></tr></thead><tbody>{}</tbody></table></div>"
        "</details>",
        what.actions.size(), rows);
}

std::string figure(const run& what, std::string_view id) {
    return fmt::format(
        "<figure><figcaption><h3>{}</h3><span class=\"verdict {}\">{}</span></figcaption>{}"
        "<div class=\"scroll\">{}</div>{}{}</figure>\n",
        when(what), mood(what), what.correct ? "right" : "wrong", legend(what), chart(what, id),
        mistake_list(what, id), action_table(what));
}

std::string section(const report& all, experiment what, std::string_view id) {
    const comparison runs = runs_of(all, what);
    const std::string said = luck(runs);
    return fmt::format(
        "<section><h2>{}</h2>\n<p class=\"faint\">Every thread, twice: {}.</p>\n"
        "<div class=\"outcomes\">{}{}</div>\n{}{}{}</section>\n",
        html(title(what)), html(task(all, what)), outcome_card(runs.without),
        outcome_card(runs.with), said.empty() ? "" : fmt::format("<p>{}</p>\n", html(said)),
        figure(runs.without, fmt::format("{}0", id)), figure(runs.with, fmt::format("{}1", id)));
}

std::string footer(const report& all) {
    return fmt::format(
        "<footer><p class=\"faint\">Recorded by <code>holdfast demo oversell</code> on {} with "
        "{} processes of {} threads; locks in <code>{}</code>, seed {}. The times are those that "
        "the threads took from the one clock that both processes share: of a read before it "
        "began, of a write when it was committed. {}</p></footer>",
        html(all.host), processes, all.threads, html(all.store), all.seed,
        all.fencing ? "With the lock each write carries the token of its hold, and the database "
                      "refuses one older than it has seen: "
                      "<code>UPDATE stock SET … WHERE token &lt;= ?</code>."
                    : "This store gives no fencing tokens.");
}

}  // namespace

std::string page(const report& all) {
    std::string out{head};
    out += fmt::format("<style>\n{}</style>\n</head>\n<body>\n{}<main>\n", page_css, hatch);
    out += fmt::format(
        "<header><h1>Sold more than there was</h1>\n<p class=\"lead\">{} processes with {} threads "
        "each read a database, think for a moment, and write what follows from what they had "
        "read. Nothing is wrong with that code, as long as nobody else does the same "
        "meanwhile.</p></header>\n",
        processes, all.threads);
    out += section(all, experiment::phones, "p");
    out += section(all, experiment::stock, "s");
    out += footer(all);
    out += fmt::format("\n</main>\n<script>\n{}</script>\n</body>\n</html>\n", page_js);
    return out;
}

}  // namespace holdfast::cli::demo
