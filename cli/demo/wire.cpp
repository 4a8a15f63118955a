#include "wire.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace holdfast::cli::demo {

namespace json = boost::json;

namespace {

std::string line(const json::value& what) {
    return json::serialize(what) + '\n';
}

json::value time_value(time_point at) {
    return at.time_since_epoch().count();
}

std::string text_of(const json::object& from, std::string_view key) {
    return std::string(std::string_view(from.at(key).as_string()));
}

template <class Number>
Number number_of(const json::object& from, std::string_view key) {
    return from.at(key).to_number<Number>();
}

duration duration_of(const json::object& from, std::string_view key) {
    return duration{number_of<duration::rep>(from, key)};
}

time_point time_of(const json::object& from, std::string_view key) {
    return time_point{duration_of(from, key)};
}

/// The object on the line, unless that is a failure.
json::object answer(std::string_view text) {
    json::object all = json::parse({text.data(), text.size()}).as_object();
    if (!all.contains("failure")) return all;
    failure why;
    why.code = static_cast<errc>(number_of<std::uint8_t>(all, "failure"));
    why.detail = text_of(all, "detail");
    why.lock = text_of(all, "lock");
    throw lock_error(std::move(why));
}

experiment experiment_named(std::string_view name) {
    return name == name_of(experiment::phones) ? experiment::phones : experiment::stock;
}

outcome outcome_named(std::string_view name) {
    for (const outcome each : {outcome::written, outcome::nothing_to_do, outcome::stale}) {
        if (name == name_of(each)) return each;
    }
    return outcome::failed;
}

action read_action(const json::object& from) {
    action out;
    out.process = number_of<unsigned>(from, "process");
    out.thread = number_of<unsigned>(from, "thread");
    out.asked = time_of(from, "asked_ns");
    out.granted = time_of(from, "granted_ns");
    out.token = fencing_token{std::stoull(text_of(from, "token"))};
    out.read_at = time_of(from, "read_ns");
    out.written_at = time_of(from, "written_ns");
    out.released = time_of(from, "released_ns");
    out.seen = number_of<std::int64_t>(from, "seen");
    out.left = number_of<std::int64_t>(from, "left");
    out.seen_version = number_of<std::int64_t>(from, "seen_version");
    out.version = number_of<std::int64_t>(from, "version");
    out.result = outcome_named(text_of(from, "result"));
    out.trouble = text_of(from, "trouble");
    return out;
}

}  // namespace

std::string_view name_of(experiment what) noexcept {
    return what == experiment::phones ? "phones" : "stock";
}

std::string_view name_of(outcome result) noexcept {
    switch (result) {
        case outcome::written:
            return "written";
        case outcome::nothing_to_do:
            return "nothing_to_do";
        case outcome::stale:
            return "stale";
        case outcome::failed:
            return "failed";
    }
    return "failed";
}

json::object to_json(const action& done) {
    json::object out;
    out["process"] = done.process;
    out["thread"] = done.thread;
    out["asked_ns"] = time_value(done.asked);
    out["granted_ns"] = time_value(done.granted);
    // As text: tokens may be larger than what JavaScript's numbers keep exactly.
    out["token"] = std::to_string(done.token.value());
    out["read_ns"] = time_value(done.read_at);
    out["written_ns"] = time_value(done.written_at);
    out["released_ns"] = time_value(done.released);
    out["seen"] = done.seen;
    out["left"] = done.left;
    out["seen_version"] = done.seen_version;
    out["version"] = done.version;
    out["result"] = name_of(done.result);
    out["trouble"] = done.trouble;
    return out;
}

std::string to_line(const orders& what) {
    json::object out;
    out["experiment"] = name_of(what.what);
    out["database"] = what.database;
    out["store"] = what.store;
    out["lock"] = what.lock;
    out["process"] = what.process;
    out["threads"] = what.threads;
    out["think_least_ns"] = what.think.least.count();
    out["think_most_ns"] = what.think.most.count();
    out["seed"] = what.seed;
    return line(out);
}

orders read_orders(std::string_view text) {
    const json::object all = answer(text);
    orders out;
    out.what = experiment_named(text_of(all, "experiment"));
    out.database = text_of(all, "database");
    out.store = text_of(all, "store");
    out.lock = text_of(all, "lock");
    out.process = number_of<unsigned>(all, "process");
    out.threads = number_of<unsigned>(all, "threads");
    out.think = {duration_of(all, "think_least_ns"), duration_of(all, "think_most_ns")};
    out.seed = number_of<std::uint64_t>(all, "seed");
    return out;
}

std::string to_line(const readiness& what) {
    return line(json::object{{"store", what.store}, {"fencing", what.fencing}});
}

readiness read_readiness(std::string_view text) {
    const json::object all = answer(text);
    return {text_of(all, "store"), all.at("fencing").as_bool()};
}

std::string to_line(const failure& what) {
    return line(json::object{{"failure", static_cast<std::uint8_t>(what.code)},
                             {"detail", what.detail},
                             {"lock", what.lock}});
}

std::string to_line(const std::vector<action>& done) {
    json::array all;
    for (const action& each : done) all.push_back(to_json(each));
    return line(json::object{{"actions", std::move(all)}});
}

std::vector<action> read_actions(std::string_view text) {
    const json::object all = answer(text);
    std::vector<action> out;
    for (const json::value& each : all.at("actions").as_array()) {
        out.push_back(read_action(each.as_object()));
    }
    return out;
}

}  // namespace holdfast::cli::demo
