#include "stores/redis/records.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>

#include "stores/redis/keys.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::redis {
namespace {

// Redis ends a key after its last millisecond.
constexpr duration tick = std::chrono::milliseconds{1};

template <class Number>
bool take(std::string_view& from, Number& number) {
    const auto end = from.find(' ');
    if (end == std::string_view::npos) return false;
    const auto done = std::from_chars(from.data(), from.data() + end, number);
    from.remove_prefix(end + 1);
    return done.ec == std::errc{};
}

access how_of(std::int64_t what) {
    return what == held_read ? access::shared : access::exclusive;
}

kind kind_of(std::int64_t what) {
    if (what == held_permits) return kind::semaphore;
    return what == held_mutex ? kind::mutex : kind::shared_mutex;
}

waiter_record waiter_of(std::string_view field, std::string_view text, std::int64_t now_us) {
    waiter_record one{.claim = claim_of(field)};
    std::int64_t since = now_us;
    std::int64_t ends = 0;
    take(text, since);
    take(text, ends);
    if (text.starts_with("read ")) one.how = access::shared;
    text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
    take(text, one.permits);
    one.owner = text;
    one.waiting_for = std::chrono::microseconds{std::max<std::int64_t>(now_us - since, 0)};
    return one;
}

bool numbers(const reply& answer, std::size_t count) {
    if (!answer.is(reply::type::array) || answer.elements.size() < count) return false;
    return std::all_of(answer.elements.begin(),
                       answer.elements.begin() + static_cast<std::ptrdiff_t>(count),
                       [](const reply& one) { return one.is(reply::type::number); });
}

}  // namespace

record record::of(std::string_view field, std::string_view text) {
    record one;
    const auto client_at = [&] { return text.find(' '); };
    if (take(text, one.first) && take(text, one.tokens) && take(text, one.since_us) &&
        take(text, one.permits) && client_at() != std::string_view::npos) {
        one.owner = text.substr(client_at() + 1);
        return one;
    }
    return {.owner = field};
}

duration remaining_of(std::int64_t pttl) noexcept {
    return std::chrono::milliseconds{std::max<std::int64_t>(pttl, 0)};
}

std::int64_t milliseconds_of(duration ttl) noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
}

failure strange(std::string_view what) {
    return {.code = errc::bad_reply,
            .detail = "Redis answered something strange to " + std::string(what)};
}

result<acquire_reply> read_acquire(const reply& answer) {
    if (!numbers(answer, 2) || answer.elements.size() < 4) return strange("an acquisition");
    const auto& parts = answer.elements;
    const auto said = parts[0].number;
    if (said == 1) {
        if (!numbers(answer, 4)) return strange("an acquisition");
        return acquire_reply{
            granted{.token = fencing_token{static_cast<std::uint64_t>(parts[1].number)},
                    .tokens = static_cast<std::uint32_t>(parts[2].number),
                    .remaining = remaining_of(parts[3].number)}};
    }
    if (said == 2) {
        return failure{.code = errc::mismatch,
                       .detail = "the semaphore is in use with a capacity of " +
                                 std::to_string(parts[1].number)};
    }
    const auto pttl = parts[1].number;
    const auto who = record::of(parts[2].text, parts[3].text);
    // Held without an end, by somebody's mistake, it is asked for now and then.
    const auto ask_again = pttl == -1 ? poll_max : std::min(remaining_of(pttl) + tick, poll_max);
    return acquire_reply{refused{.holder = holder_info{.owner = std::string(who.owner),
                                                       .token = fencing_token{who.first},
                                                       .remaining = remaining_of(pttl)},
                                 .retry_after = ask_again}};
}

renewal_reply read_renewal(const reply& answer) {
    if (answer.is(reply::type::number)) {
        if (answer.number == renewal_removed) return {.lost = loss_reason::removed};
        if (answer.number == renewal_taken_over) return {.lost = loss_reason::taken_over};
        return {.remaining = remaining_of(answer.number)};
    }
    if (!numbers(answer, 3)) return {.lost = loss_reason::removed};
    const auto& parts = answer.elements;
    const auto what = parts[1].number;
    return {.remaining = remaining_of(parts[0].number),
            .how = how_of(what),
            .what = kind_of(what),
            .permits = static_cast<std::uint32_t>(parts[2].number)};
}

holder_record holder_of(std::string_view field, std::string_view text, std::int64_t pttl,
                        std::int64_t now_us) {
    const auto who = record::of(field, text);
    const auto last = who.first + std::max<std::uint32_t>(who.tokens, 1) - 1;
    const auto held_us = who.since_us == 0 ? 0 : std::max<std::int64_t>(now_us - who.since_us, 0);
    return {.claim = claim_of(field),
            .owner = std::string(who.owner),
            .token = fencing_token{who.first},
            .token_last = fencing_token{who.first == 0 ? 0 : last},
            .permits = who.permits,
            .held_for = std::chrono::microseconds{held_us},
            .remaining = remaining_of(pttl)};
}

result<lock_record> read_show(std::string_view name, const reply& answer) {
    if (!numbers(answer, 4) || answer.elements.size() != 6) return strange("a look at a lock");
    const auto& parts = answer.elements;
    const auto now_us = parts[0].number;
    lock_record shown{.name = std::string(name),
                      .what = kind_of(parts[2].number),
                      .capacity = static_cast<std::uint32_t>(parts[3].number),
                      .token = fencing_token{static_cast<std::uint64_t>(parts[1].number)}};
    const auto& holders = parts[4].elements;
    for (std::size_t i = 0; i + 3 < holders.size(); i += 4) {
        shown.holders.push_back(
            holder_of(holders[i].text, holders[i + 1].text, holders[i + 2].number, now_us));
        shown.holders.back().how = how_of(holders[i + 3].number);
    }
    const auto& waiters = parts[5].elements;
    for (std::size_t i = 0; i + 1 < waiters.size(); i += 2) {
        shown.waiters.push_back(waiter_of(waiters[i].text, waiters[i + 1].text, now_us));
    }
    std::ranges::sort(shown.holders, {}, &holder_record::token);
    std::ranges::sort(shown.waiters, std::greater{}, &waiter_record::waiting_for);
    return shown;
}

}  // namespace holdfast::redis
