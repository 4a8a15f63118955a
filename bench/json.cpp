#include "json.hpp"

#include <sys/utsname.h>

#include <cmath>
#include <thread>

#include <boost/json.hpp>
#include <boost/json/src.hpp>

#include <holdfast/version.hpp>

namespace holdfast::bench {
namespace {

namespace json = boost::json;

json::value shown(double value) {
    if (std::isnan(value)) return nullptr;
    return value;
}

json::value shown(const figure& it) {
    if (std::isnan(it.value)) return nullptr;
    return json::object{{"way", it.way}, {"value", it.value}};
}

json::array shown(const std::vector<figure>& peers) {
    json::array all;
    for (const auto& peer : peers) {
        if (!std::isnan(peer.value)) all.push_back(shown(peer));
    }
    return all;
}

const char* name_of(compared by) {
    switch (by) {
        case compared::nothing:
            break;
        case compared::ratio_at_least:
            return "ratio_at_least";
        case compared::ratio_at_most:
            return "ratio_at_most";
        case compared::difference_at_most:
            return "difference_at_most";
        case compared::value_at_most:
            return "value_at_most";
    }
    return "none";
}

json::object shown(const measured_row& row) {
    json::object it{{"work", row.work},          {"row", row.of.name},
                    {"unit", row.of.unit},       {"floor", shown(row.floor)},
                    {"peers", shown(row.peers)}, {"ours", shown(row.ours)}};
    const bool difference = row.of.aim.by == compared::difference_at_most;
    it[difference ? "difference" : "ratio"] = {{"median", shown(row.ratio.median)},
                                               {"lowest", shown(row.ratio.lowest)},
                                               {"highest", shown(row.ratio.highest)}};
    if (row.of.aim.by == compared::nothing) {
        it["goal"] = nullptr;
    } else {
        it["goal"] = {
            {"by", name_of(row.of.aim.by)}, {"limit", row.of.aim.limit}, {"met", row.met}};
    }
    return it;
}

// Absolute figures mean nothing without the machine.
json::object machine() {
    utsname about{};
    ::uname(&about);
    return {{"cores", std::thread::hardware_concurrency()},
            {"kernel", std::string(about.release)},
            {"processor", std::string(about.machine)}};
}

}  // namespace

std::string to_json(std::string_view store, const effort& how,
                    const std::vector<measured_row>& rows) {
    json::array works;
    for (const auto& row : rows) works.push_back(shown(row));
    const json::object all{{"store", store},
                           {"version", HOLDFAST_VERSION_STRING},
                           {"quick", how.quick},
                           {"machine", machine()},
                           {"figures", std::move(works)}};
    return json::serialize(all) + "\n";
}

}  // namespace holdfast::bench
