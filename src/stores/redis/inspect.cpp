// What operators see and do.
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "runtime/loop.hpp"
#include "stores/redis/keys.hpp"
#include "stores/redis/records.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::redis {
namespace {

constexpr duration answer_max = std::chrono::seconds{10};

/// For MATCH: what follows is literal.
std::string escaped(std::string_view text) {
    std::string all;
    for (const char letter : text) {
        if (std::string_view("*?[]^\\").find(letter) != std::string_view::npos) all += '\\';
        all += letter;
    }
    return all;
}

// What a key of holdfast_records belongs to. A name with a brace stands there as it is.
std::optional<std::string_view> name_in(std::string_view key) {
    constexpr std::string_view prefix = "holdfast_records:";
    if (!key.starts_with(prefix)) return {};
    key.remove_prefix(prefix.size());
    const bool wrapped = key.size() > 2 && key.front() == '{' && key.back() == '}' &&
                         key.find('{', 1) == std::string_view::npos;
    return wrapped ? key.substr(1, key.size() - 2) : key;
}

}  // namespace

result<reply> redis_store::ask(std::string command) {
    struct waiting {
        runtime::signal done;
        std::optional<result<reply>> said;
    };
    const auto one = std::make_shared<waiting>();
    // The loop belongs to the client, which outlives this call.
    pipeline_->send(std::move(command), [one, &loop = loop_](result<reply> said) {
        one->said.emplace(std::move(said));
        loop.set(one->done);
    });
    if (!loop_.wait(one->done, boot_clock::now() + answer_max)) {
        return failure{.code = errc::unavailable, .detail = "Redis does not answer"};
    }
    return *std::move(one->said);
}

result<lock_record> redis_store::show(std::string_view name) {
    const auto records = records_key(name);
    const auto token = token_key(name);
    const auto waiters = waiters_key(name);
    const std::array<std::string_view, 4> keys{name, records, token, waiters};
    const auto said = ask(command_of(script::show, keys, {}));
    if (!said) return said.error();
    return read_show(name, *said);
}

result<std::vector<lock_record>> redis_store::list(std::string_view prefix, bool all) {
    std::set<std::string> names;  // SCAN may tell a key twice
    std::string cursor = "0";
    do {
        const auto said =
            ask(command_of({"SCAN", cursor, "MATCH", "holdfast_records:*" + escaped(prefix) + "*",
                            "COUNT", "1000"}));
        if (!said) return said.error();
        if (said->elements.size() != 2) return strange("SCAN");
        cursor = said->elements[0].text;
        for (const auto& key : said->elements[1].elements) {
            const auto name = name_in(key.text);
            if (name && name->starts_with(prefix)) names.emplace(*name);
        }
    } while (cursor != "0");
    std::vector<lock_record> records;
    for (const auto& name : names) {
        auto record = show(name);
        if (!record) return std::move(record).error();
        if (all || !record->holders.empty()) records.push_back(*std::move(record));
    }
    return records;
}

// The claim of a hold is unique, so whoever holds after the first step is not the one who loses it
// in the second.
result<holder_record> redis_store::evict(std::string_view name, fencing_token token,
                                         std::string_view who) {
    const auto records = records_key(name);
    const auto tokens = token_key(name);
    const auto wanted = std::to_string(token.value());
    const failure none{.code = errc::not_held,
                       .detail = "no hold carries the token " + wanted,
                       .lock = std::string(name)};
    const std::array<std::string_view, 3> keys{name, records, tokens};
    const std::array<std::string_view, 1> arguments{wanted};
    const auto found = ask(command_of(script::evict, keys, arguments));
    if (!found) return found.error();
    if (found->elements.size() != 3) return none;
    const auto& parts = found->elements;
    auto evicted = holder_of(parts[0].text, parts[1].text, parts[2].number, 0);
    const auto freed = release_now(name, evicted.claim);
    if (!freed) return freed.error();
    if (!*freed) return none;
    const auto line = ask(command_of({"XADD", "holdfast_audit", "MAXLEN", "~", "10000", "*", "who",
                                      who, "name", name, "token", wanted, "owner", evicted.owner}));
    if (!line) return line.error();
    return evicted;
}

result<bool> redis_store::release_now(std::string_view name, const claim_id& claim) {
    const release_words words{name, claim};
    const auto said = ask(command_of(script::release, words.keys(), words.arguments()));
    if (!said) return said.error();
    return said->number == 1;
}

std::vector<finding> redis_store::examine() {
    const auto said = ask(command_of({"PING"}));
    if (said) return {{finding::level::ok, "server", how_.shown + " answers", {}}};
    return {{finding::level::error, "server", said.error().detail, {}}};
}

}  // namespace holdfast::redis
