// holdfast doctor: examines a store and says in plain words what is wrong with it.
#include <unistd.h>

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "json.hpp"
#include "output.hpp"
#include "text.hpp"

namespace holdfast::cli {
namespace {

using level = finding::level;

std::string describe(const finding& found, const painter& paint) {
    std::string mark;
    switch (found.severity) {
        case level::ok:
            mark = paint(colour::green, "ok     ");
            break;
        case level::note:
            mark = "note   ";
            break;
        case level::warning:
            mark = paint(colour::yellow, "warning");
            break;
        case level::error:
            mark = paint(colour::red, "error  ");
            break;
    }
    std::string out = fmt::format("{}  {}: {}\n", mark, shown(found.subject), shown(found.text));
    if (!found.advice.empty()) out += fmt::format("         {}\n", shown(found.advice));
    return out;
}

int code_for(level worst) {
    switch (worst) {
        case level::ok:
        case level::note:
            return exit_code::ok;
        case level::warning:
            return exit_code::warnings;
        case level::error:
            return exit_code::errors;
    }
    return exit_code::errors;
}

ending examine(const program& with) {
    std::vector<finding> findings;
    std::string where = store_url(with);
    result<client> from = client::try_open(where);
    if (from) {
        where = from->where();
        findings = from->examine();
    } else {
        findings.push_back({level::error, "opening the store", from.error().message(), ""});
    }
    level worst = level::ok;
    for (const finding& each : findings) worst = std::max(worst, each.severity);
    if (with.json) {
        boost::json::array all;
        for (const finding& each : findings) all.push_back(to_json(each));
        boost::json::object out;
        out["store"] = from ? boost::json::value(shown(where)) : boost::json::value(nullptr);
        out["findings"] = std::move(all);
        out["exit_code"] = code_for(worst);
        print_json(STDOUT_FILENO, out);
        return {code_for(worst)};
    }
    const painter paint{STDOUT_FILENO};
    std::string text = from ? fmt::format("{}\n", shown(where)) : "";
    for (const finding& each : findings) text += describe(each, paint);
    print(text);
    return {code_for(worst)};
}

}  // namespace

void add_doctor(CLI::App& app, program& with) {
    add_common(app, with);
    with.action = [&with] { return examine(with); };
}

}  // namespace holdfast::cli
