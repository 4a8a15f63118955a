// Rule 8, and what operators see.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "conformance/rows.hpp"
#include "support/party.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

// Each of them is a lock of its own.
std::vector<std::string> odd_names() {
    std::vector<std::string> names{
        "a",        "A",         "a ",     " a",       "a\0"s, "a\0b"s, "\0"s,     "\0\0"s,
        "\t",       "\n",        "a\r\nb", "/",        "a/b",  "..",    "../a",    "{}",
        "}{",       "%",         "%61",    "*",        "?",    "'",     "''",      "\"",
        "\\",       ";",         "--",     "_",        "a_b",  "axb",   "a%b",     ":",
        "\xc3\xa4", "a\xcc\x88", "\xff",   "\xff\xff", "\x80", "1",     "1.0",     "01",
        "NULL",     "null",      "$(id)",  "`id`",     "|",    "&",     "\x1b[31m"};
    names.push_back(std::string(255, 'n'));
    names.push_back(std::string(254, 'n') + "m");
    names.push_back(std::string(254, 'n'));
    return names;
}

ROW(contract, names_are_bytes_and_each_is_a_lock_of_its_own) {
    party a{f};
    party b{f};
    std::vector<claim> held;
    for (const auto& name : odd_names()) {
        auto claim = a.want(name);
        claim.ttl = 30s;
        ASSERT_TRUE(a.take(claim)) << testing::PrintToString(name);
        held.push_back(claim);
    }
    for (const auto& claim : held) {
        EXPECT_TRUE(b.refusal(b.want(claim.name))) << testing::PrintToString(claim.name);
        EXPECT_TRUE(f.really_held(claim.name)) << testing::PrintToString(claim.name);
    }
    for (const auto& claim : held) {
        EXPECT_EQ(a.release(claim), release_reply::released);
        EXPECT_FALSE(f.really_held(claim.name)) << testing::PrintToString(claim.name);
    }
}

ROW(contract, names_are_listed_as_they_are, &capabilities::inspect) {
    party a{f};
    auto names = odd_names();
    for (const auto& name : names) {
        auto claim = a.want(name);
        claim.ttl = 30s;
        ASSERT_TRUE(a.take(claim));
    }
    const auto all = a.inspect().list("", false).value();
    std::vector<std::string> listed;
    for (const auto& record : all) listed.push_back(record.name);
    std::ranges::sort(names);
    EXPECT_EQ(listed, names);
    for (const auto& prefix : {"a"s, "\0"s, "%"s, "_"s, "\xff"s, "\xff\xff"s, "nn"s, "zz"s}) {
        const auto some = a.inspect().list(prefix, false).value();
        EXPECT_EQ(static_cast<std::ptrdiff_t>(some.size()),
                  std::ranges::count_if(names,
                                        [&](const auto& name) { return name.starts_with(prefix); }))
            << testing::PrintToString(prefix);
    }
}

ROW(contract, a_name_is_shown_with_its_holders_and_waiters_in_order, &capabilities::inspect) {
    party a{f};
    party b{f};
    auto held = a.want("x");
    held.owner = "first\x1b[31m";
    held.tokens = 1;
    const auto got = a.take(held).value();
    std::vector<claim> waiting;
    for (const auto* owner : {"second", "third"}) {
        waiting.push_back(party::waiting(b.want("x")));
        waiting.back().owner = owner;
        ASSERT_TRUE(b.refusal(waiting.back()));
    }
    const auto shown = b.inspect().show("x").value();
    EXPECT_EQ(shown.name, "x");
    EXPECT_EQ(shown.what, kind::mutex);
    EXPECT_EQ(shown.token, got.token);
    ASSERT_EQ(shown.holders.size(), 1U);
    EXPECT_EQ(shown.holders[0].claim, held.id);
    EXPECT_EQ(shown.holders[0].owner, "first\x1b[31m") << "bytes as the holder gave them";
    EXPECT_EQ(shown.holders[0].token, got.token);
    EXPECT_EQ(shown.holders[0].token_last, got.token);
    EXPECT_EQ(shown.holders[0].how, access::exclusive);
    EXPECT_LE(shown.holders[0].remaining, f.ttl());
    EXPECT_GT(shown.holders[0].remaining, duration::zero());
    EXPECT_GE(shown.holders[0].held_for, duration::zero());
    ASSERT_EQ(shown.waiters.size(), 2U);
    EXPECT_EQ(shown.waiters[0].claim, waiting[0].id);
    EXPECT_EQ(shown.waiters[1].owner, "third");
}

ROW(contract, a_semaphore_is_shown_with_its_permits, &capabilities::inspect,
    &capabilities::semaphores) {
    party a{f};
    ASSERT_TRUE(a.take(a.want_permits("x", 2, 5)));
    ASSERT_TRUE(a.take(a.want_permits("x", 1, 5)));
    const auto shown = a.inspect().show("x").value();
    EXPECT_EQ(shown.what, kind::semaphore);
    EXPECT_EQ(shown.capacity, 5U);
    ASSERT_EQ(shown.holders.size(), 2U);
    EXPECT_EQ(shown.holders[0].permits + shown.holders[1].permits, 3U);
}

ROW(contract, what_nobody_holds_is_not_listed, &capabilities::inspect) {
    party a{f};
    const auto released = a.want("released");
    const auto expired = a.want("expired");
    ASSERT_TRUE(a.take(released) && a.take(expired));
    a.release(released);
    f.pass(f.ttl());
    EXPECT_TRUE(a.inspect().list("", false).value().empty());
    EXPECT_TRUE(a.inspect().show("expired").value().holders.empty());
    EXPECT_TRUE(a.inspect().show("never used").value().holders.empty());
}

ROW(contract, only_a_hold_that_carries_the_token_is_evicted, &capabilities::evict) {
    party a{f};
    party b{f};
    const auto held = a.want("x");
    const auto got = a.take(held).value();
    for (const auto wrong : {got.token.value() + 1, got.token.value() - 1}) {
        const auto refused = b.inspect().evict("x", fencing_token{wrong}, "operator");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, errc::not_held);
    }
    EXPECT_TRUE(f.really_held("x"));
    const auto ended = b.inspect().evict("x", got.token, "operator");
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->claim, held.id);
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_EQ(a.renew(held, f.ttl()).lost, loss_reason::removed);
    EXPECT_FALSE(b.inspect().evict("x", got.token, "operator")) << "it is gone already";
}

ROW(contract, a_hold_is_evicted_by_any_token_of_its_block, &capabilities::evict,
    &capabilities::token_blocks) {
    party a{f};
    auto held = a.want("x");
    held.tokens = 4;
    const auto got = a.take(held).value();
    EXPECT_TRUE(a.inspect().evict("x", fencing_token{got.token.value() + 3}, "operator"));
    EXPECT_FALSE(f.really_held("x"));
}

ROW(contract, one_reader_of_several_is_evicted, &capabilities::evict, &capabilities::shared) {
    party a{f};
    const auto one = a.want_shared("x");
    const auto two = a.want_shared("x");
    const auto first = a.take(one);
    ASSERT_TRUE(first && a.take(two));
    ASSERT_TRUE(a.inspect().evict("x", first->token, "operator"));
    EXPECT_EQ(a.renew(one, f.ttl()).lost, loss_reason::removed);
    EXPECT_EQ(a.renew(two, f.ttl()).lost, loss_reason::none);
}

ROW(contract, the_store_examines_itself, &capabilities::inspect) {
    party a{f};
    const auto findings = a.inspect().examine();
    EXPECT_FALSE(findings.empty());
    for (const auto& finding : findings) {
        EXPECT_FALSE(finding.subject.empty() || finding.text.empty());
        EXPECT_NE(finding.severity, finding::level::error) << finding.text;
    }
}

}  // namespace
}  // namespace holdfast::tests
