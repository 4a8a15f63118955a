#include "json.hpp"

#include <chrono>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "output.hpp"
#include "text.hpp"

namespace holdfast::cli {

namespace json = boost::json;

void put_name(json::object& into, std::string_view name) {
    into["name"] = shown(name);
    into["name_hex"] = to_hex(name);
}

json::value to_json(duration value) {
    if (value == forever) return nullptr;
    return std::chrono::duration_cast<std::chrono::milliseconds>(value).count();
}

json::value to_json(fencing_token token) {
    return json::string{fmt::format("{}", token.value())};
}

json::object to_json(const holder_record& holder) {
    json::object out;
    out["owner"] = shown(holder.owner);
    out["claim"] = to_string(holder.claim);
    out["token"] = to_json(holder.token);
    out["token_last"] = to_json(holder.token_last);
    out["access"] = to_string(holder.how);
    out["permits"] = holder.permits;
    out["held_for_ms"] = to_json(holder.held_for);
    out["remaining_ms"] = to_json(holder.remaining);
    out["process_bound"] = holder.bound;
    return out;
}

static json::object to_json(const waiter_record& waiter) {
    json::object out;
    out["owner"] = shown(waiter.owner);
    out["claim"] = to_string(waiter.claim);
    out["access"] = to_string(waiter.how);
    out["permits"] = waiter.permits;
    out["waiting_for_ms"] = to_json(waiter.waiting_for);
    return out;
}

json::object to_json(const lock_record& lock) {
    json::object out;
    put_name(out, lock.name);
    out["kind"] = to_string(lock.what);
    out["capacity"] = lock.capacity;
    out["token"] = to_json(lock.token);
    out["held"] = !lock.holders.empty();
    json::array holders;
    for (const holder_record& each : lock.holders) holders.push_back(to_json(each));
    json::array waiters;
    for (const waiter_record& each : lock.waiters) waiters.push_back(to_json(each));
    out["holders"] = std::move(holders);
    out["waiters"] = std::move(waiters);
    return out;
}

static std::string_view name_of(finding::level severity) noexcept {
    switch (severity) {
        case finding::level::ok:
            return "ok";
        case finding::level::note:
            return "note";
        case finding::level::warning:
            return "warning";
        case finding::level::error:
            return "error";
    }
    return "error";
}

json::object to_json(const finding& found) {
    json::object out;
    out["severity"] = name_of(found.severity);
    out["subject"] = shown(found.subject);
    out["text"] = shown(found.text);
    out["advice"] = shown(found.advice);
    return out;
}

json::object to_json(const failure& why) {
    json::object out;
    out["code"] = name_of(why.code);
    if (!why.lock.empty()) out["lock"] = shown(why.lock);
    failure nameless = why;
    nameless.lock.clear();
    out["message"] = shown(nameless.message());
    return out;
}

std::string_view name_of(errc code) noexcept {
    switch (code) {
        case errc::busy:
            return "busy";
        case errc::timed_out:
            return "timed_out";
        case errc::cancelled:
            return "cancelled";
        case errc::lost:
            return "lost";
        case errc::not_held:
            return "not_held";
        case errc::outcome_unknown:
            return "outcome_unknown";
        case errc::invalid_argument:
            return "invalid_argument";
        case errc::unsupported:
            return "unsupported";
        case errc::mismatch:
            return "mismatch";
        case errc::would_deadlock:
            return "would_deadlock";
        case errc::forked:
            return "forked";
        case errc::unavailable:
            return "unavailable";
        case errc::access_denied:
            return "access_denied";
        case errc::bad_reply:
            return "bad_reply";
    }
    return "unknown";
}

void print_json(int descriptor, const json::object& value) {
    write_all(descriptor, json::serialize(value) + '\n');
}

}  // namespace holdfast::cli
