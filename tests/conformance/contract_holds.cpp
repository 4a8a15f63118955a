// Rules 2, 3, 4, 7 and 10: grants, releases, renewals, expiry and tokens.
#include <algorithm>
#include <memory>
#include <vector>

#include "conformance/rows.hpp"
#include "support/party.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

ROW(contract, a_free_name_is_granted_for_the_ttl) {
    party a{f};
    const auto claim = a.want("x");
    const auto got = a.take(claim);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->remaining, f.ttl());
    EXPECT_GT(got->token, fencing_token{});
    EXPECT_EQ(got->tokens, 1U);
    EXPECT_TRUE(f.really_held("x"));
}

ROW(contract, a_held_name_is_refused_and_its_holder_is_told) {
    party a{f};
    party b{f};
    auto claim = a.want("x");
    claim.owner = "host/4711/label";
    const auto got = a.take(claim);
    ASSERT_TRUE(got);
    const auto no = b.refusal(b.want("x"));
    ASSERT_TRUE(no);
    ASSERT_TRUE(no->holder);
    EXPECT_EQ(no->holder->owner, "host/4711/label");
    EXPECT_EQ(no->holder->token, got->token);
    EXPECT_LE(no->holder->remaining, f.ttl());
    EXPECT_GT(no->holder->remaining, duration::zero());
    EXPECT_LE(no->retry_after, b.target().caps().poll_max);
    EXPECT_GT(no->retry_after, duration::zero());
}

ROW(contract, one_client_is_refused_what_it_holds_itself) {
    party a{f};
    ASSERT_TRUE(a.take(a.want("x")));
    EXPECT_TRUE(a.refusal(a.want("x")));
}

ROW(contract, the_same_claim_gets_the_same_hold_and_token) {
    party a{f};
    const auto claim = a.want("x");
    const auto first = a.take(claim);
    f.pass(f.ttl() / 2);
    const auto again = a.take(claim);
    ASSERT_TRUE(first && again);
    EXPECT_EQ(again->token, first->token);
    EXPECT_EQ(again->tokens, first->tokens);
    EXPECT_LE(again->remaining, f.ttl() / 2) << "repeating a claim is no renewal";
    EXPECT_EQ(a.release(claim), release_reply::released);
    EXPECT_FALSE(f.really_held("x")) << "it was held twice";
}

ROW(contract, a_release_frees_the_name) {
    party a{f};
    party b{f};
    const auto claim = a.want("x");
    ASSERT_TRUE(a.take(claim));
    EXPECT_EQ(a.release(claim), release_reply::released);
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_TRUE(b.take(b.want("x")));
}

ROW(contract, a_second_release_finds_nothing) {
    party a{f};
    const auto claim = a.want("x");
    ASSERT_TRUE(a.take(claim));
    EXPECT_EQ(a.release(claim), release_reply::released);
    EXPECT_EQ(a.release(claim), release_reply::not_held);
    EXPECT_EQ(a.release(a.want("never used")), release_reply::not_held);
}

ROW(contract, a_stale_release_changes_nothing) {
    party a{f};
    party b{f};
    const auto stale = a.want("x");
    ASSERT_TRUE(a.take(stale));
    f.pass(f.ttl());
    const auto newer = b.want("x");
    ASSERT_TRUE(b.take(newer));
    EXPECT_EQ(a.release(stale), release_reply::not_held);
    EXPECT_TRUE(f.really_held("x"));
    EXPECT_EQ(b.renew(newer, f.ttl()).lost, loss_reason::none);
}

ROW(contract, a_release_of_an_expired_hold_finds_nothing) {
    party a{f};
    const auto claim = a.want("x");
    ASSERT_TRUE(a.take(claim));
    f.pass(f.ttl());
    EXPECT_EQ(a.release(claim), release_reply::not_held);
}

ROW(contract, expiry_is_exact_by_the_clock_of_the_store) {
    party a{f};
    party b{f};
    ASSERT_TRUE(a.take(a.want("x")));
    f.pass(f.ttl() / 2);
    const auto before = b.refusal(b.want("x"));
    ASSERT_TRUE(before && before->holder);
    const auto remaining = before->holder->remaining;
    EXPECT_LE(remaining, f.ttl() / 2);
    f.pass(remaining);
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_TRUE(b.take(b.want("x")));
}

ROW(contract, renewal_prolongs) {
    party a{f};
    party b{f};
    const auto claim = a.want("x");
    ASSERT_TRUE(a.take(claim));
    for (int i = 0; i < 3; ++i) {
        f.pass(f.ttl() * 2 / 3);
        const auto renewed = a.renew(claim, f.ttl());
        ASSERT_EQ(renewed.lost, loss_reason::none);
        EXPECT_EQ(renewed.remaining, f.ttl());
    }
    EXPECT_TRUE(b.refusal(b.want("x")));
}

ROW(contract, renewal_never_shortens) {
    party a{f};
    const auto claim = a.want("x");
    ASSERT_TRUE(a.take(claim));
    const auto renewed = a.renew(claim, 10ms);
    EXPECT_EQ(renewed.lost, loss_reason::none);
    EXPECT_GT(renewed.remaining, f.ttl() / 2);
}

ROW(contract, renewal_never_revives) {
    party a{f};
    const auto expired = a.want("x");
    const auto released = a.want("y");
    ASSERT_TRUE(a.take(expired) && a.take(released));
    a.release(released);
    f.pass(f.ttl());
    const auto late = a.renew(expired, f.ttl());
    EXPECT_TRUE(late.lost == loss_reason::expired || late.lost == loss_reason::removed);
    EXPECT_EQ(a.renew(released, f.ttl()).lost, loss_reason::removed);
    EXPECT_FALSE(f.really_held("x"));
    EXPECT_FALSE(f.really_held("y"));
}

ROW(contract, renewal_tells_that_somebody_else_has_it) {
    party a{f};
    party b{f};
    const auto stale = a.want("x");
    ASSERT_TRUE(a.take(stale));
    f.pass(f.ttl());
    const auto newer = b.want("x");
    const auto got = b.take(newer);
    ASSERT_TRUE(got);
    EXPECT_EQ(a.renew(stale, f.ttl()).lost, loss_reason::taken_over);
    EXPECT_EQ(b.take(newer)->token, got->token) << "the newer hold was changed";
}

ROW(contract, renewal_compares_the_token_if_one_is_named, &capabilities::fencing) {
    party a{f};
    const auto claim = a.want("x");
    const auto got = a.take(claim);
    ASSERT_TRUE(got);
    f.pass(f.ttl() / 2);
    const auto wrong = fencing_token{got->token.value() + 1};
    EXPECT_EQ(a.renew(claim, f.ttl(), binding::keep, wrong).lost, loss_reason::taken_over);
    EXPECT_LE(a.take(claim)->remaining, f.ttl() / 2) << "it was renewed all the same";
    EXPECT_EQ(a.renew(claim, f.ttl(), binding::keep, got->token).lost, loss_reason::none);
}

ROW(contract, each_line_of_a_batch_has_its_own_answer) {
    party a{f};
    const auto one = a.want("one");
    const auto gone = a.want("gone");
    const auto two = a.want("two");
    ASSERT_TRUE(a.take(one) && a.take(gone) && a.take(two));
    a.release(gone);
    const auto renewed = a.renew({{.hold = {"one", one.id}, .ttl = f.ttl()},
                                  {.hold = {"gone", gone.id}, .ttl = f.ttl()},
                                  {.hold = {"two", two.id}, .ttl = f.ttl()}});
    ASSERT_TRUE(renewed);
    ASSERT_EQ(renewed->size(), 3U);
    EXPECT_EQ((*renewed)[0].lost, loss_reason::none);
    EXPECT_EQ((*renewed)[1].lost, loss_reason::removed);
    EXPECT_EQ((*renewed)[2].lost, loss_reason::none);
    const auto freed = a.release({{"two", two.id}, {"gone", gone.id}, {"one", one.id}});
    ASSERT_TRUE(freed);
    EXPECT_EQ(*freed, (std::vector{release_reply::released, release_reply::not_held,
                                   release_reply::released}));
    EXPECT_FALSE(f.really_held("one") || f.really_held("two"));
}

ROW(contract, a_batch_takes_as_many_lines_as_the_capabilities_say) {
    party a{f};
    auto claim = a.want("0");
    claim.ttl = 30s;
    std::vector<renewal_request> lines;
    std::vector<hold_ref> holds;
    for (std::size_t i = 0; i < a.target().caps().batch_max; ++i) {
        claim.name = std::to_string(i);
        claim.id.words[0] += 1;
        ASSERT_TRUE(a.take(claim));
        lines.push_back({.hold = {claim.name, claim.id}, .ttl = claim.ttl});
        holds.push_back({claim.name, claim.id});
    }
    const auto renewed = a.renew(lines);
    ASSERT_TRUE(renewed);
    EXPECT_EQ(std::ranges::count(*renewed, loss_reason::none, &renewal_reply::lost),
              static_cast<std::ptrdiff_t>(lines.size()));
    const auto freed = a.release(holds);
    ASSERT_TRUE(freed);
    EXPECT_EQ(std::ranges::count(*freed, release_reply::released),
              static_cast<std::ptrdiff_t>(holds.size()));
}

ROW(contract, tokens_rise_across_release_and_expiry, &capabilities::fencing) {
    party a{f};
    party b{f};
    fencing_token newest;
    const auto rises = [&](party& who) {
        const auto claim = who.want("x");
        const auto got = who.take(claim);
        EXPECT_TRUE(got);
        EXPECT_GT(got ? got->token : fencing_token{}, newest);
        newest = got->token;
        return claim;
    };
    a.release(rises(a));
    a.release(rises(a));
    b.release(rises(b));
    rises(a);
    f.pass(f.ttl());
    rises(b);
    f.pass(f.ttl());
    rises(b);
}

ROW(contract, tokens_rise_across_eviction, &capabilities::fencing, &capabilities::evict) {
    party a{f};
    const auto got = a.take(a.want("x"));
    ASSERT_TRUE(got);
    ASSERT_TRUE(a.inspect().evict("x", got->token, "me"));
    const auto next = a.take(a.want("x"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->token, got->token);
}

ROW(contract, tokens_rise_across_restart_where_the_store_keeps_its_data, &capabilities::fencing) {
    fencing_token before;
    {
        party a{f};
        for (int i = 0; i < 5; ++i) {
            const auto claim = a.want("x");
            before = a.take(claim).value().token;
            a.release(claim);
        }
    }
    if (!f.restart()) return;
    party b{f};
    EXPECT_GT(b.take(b.want("x")).value().token, before);
}

ROW(contract, a_block_of_tokens_belongs_to_one_grant, &capabilities::token_blocks) {
    party a{f};
    auto many = a.want("x");
    many.tokens = 16;
    const auto block = a.take(many);
    ASSERT_TRUE(block);
    EXPECT_EQ(block->tokens, 16U);
    EXPECT_EQ(a.take(many)->tokens, 16U);
    const auto last = fencing_token{block->token.value() + 15};
    EXPECT_EQ(a.renew(many, f.ttl(), binding::keep, last).lost, loss_reason::none);
    a.release(many);
    EXPECT_GT(a.take(a.want("x")).value().token, last);
}

ROW(contract, a_hold_ends_with_its_client_if_it_is_bound, &capabilities::process_bound) {
    party a{f};
    party b{f};
    ASSERT_TRUE(a.take(a.want("x")));
    a.leave();
    EXPECT_TRUE(b.take(b.want("x")));
}

ROW(contract, a_detached_hold_survives_its_client, &capabilities::process_bound) {
    party a{f};
    party b{f};
    const auto claim = a.want("x");
    const auto got = a.take(claim);
    ASSERT_TRUE(got);
    EXPECT_EQ(a.renew(claim, f.ttl(), binding::detach).lost, loss_reason::none);
    a.leave();
    EXPECT_TRUE(b.refusal(b.want("x")));
    EXPECT_EQ(b.renew(claim, f.ttl(), binding::attach, got->token).lost, loss_reason::none);
    party c{f};
    EXPECT_TRUE(c.refusal(c.want("x")));
    b.leave();
    EXPECT_TRUE(c.take(c.want("x"))) << "it was to end with whom it was attached to";
}

ROW(contract, a_hold_is_attached_to_one_client_only, &capabilities::process_bound) {
    party a{f};
    party b{f};
    party c{f};
    const auto claim = a.want("x");
    const auto got = a.take(claim);
    ASSERT_TRUE(got);
    a.renew(claim, f.ttl(), binding::detach);
    EXPECT_EQ(b.renew(claim, f.ttl(), binding::attach, got->token).lost, loss_reason::none);
    EXPECT_EQ(b.renew(claim, f.ttl(), binding::attach, got->token).lost, loss_reason::none)
        << "the answer to the first request may have been lost";
    EXPECT_EQ(c.renew(claim, f.ttl(), binding::attach, got->token).lost, loss_reason::taken_over);
}

}  // namespace
}  // namespace holdfast::tests
