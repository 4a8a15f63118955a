// The words for people, and the error types that carry them.
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

namespace holdfast {
namespace {

TEST(texts, every_code_has_a_text_of_its_own) {
    std::set<std::string> texts;
    for (int code = 1; code <= static_cast<int>(errc::bad_reply); ++code) {
        texts.insert(make_error_code(static_cast<errc>(code)).message());
    }
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(errc::bad_reply));
    EXPECT_EQ(texts.count("unknown error"), 0U);
    EXPECT_EQ(error_category().message(99), "unknown error");
    EXPECT_STREQ(error_category().name(), "holdfast");
    EXPECT_EQ(std::error_code(errc::busy), make_error_code(errc::busy));
}

TEST(texts, every_loss_reason_and_event_has_a_text_of_its_own) {
    std::set<std::string> losses;
    for (int i = 0; i <= static_cast<int>(loss_reason::shut_down); ++i) {
        losses.insert(to_string(static_cast<loss_reason>(i)));
    }
    EXPECT_EQ(losses.size(), static_cast<std::size_t>(loss_reason::shut_down) + 1);
    std::set<std::string> events;
    for (int i = 0; i <= static_cast<int>(event::type::abandoned); ++i) {
        events.insert(to_string(static_cast<event::type>(i)));
    }
    EXPECT_EQ(events.size(), static_cast<std::size_t>(event::type::abandoned) + 1);
    EXPECT_STREQ(to_string(loss_reason::taken_over), "taken over");
    EXPECT_STREQ(to_string(event::type::at_risk), "at risk");
    EXPECT_STREQ(to_string(kind::shared_mutex), "shared mutex");
    EXPECT_STREQ(to_string(access::shared), "shared");
}

TEST(texts, a_failure_is_told_in_one_line) {
    failure why{.code = errc::busy};
    EXPECT_EQ(why.message(), "held by somebody else");
    why.detail = "details";
    why.holder = holder_info{"host/1", fencing_token{7}, {}};
    EXPECT_EQ(why.message(), "held by somebody else: details (held by host/1)");
    why.lock = "stock\n1001";
    EXPECT_EQ(why.message(), "stock\\x0a1001: held by somebody else: details (held by host/1)");
}

TEST(texts, an_id_has_32_hexadecimal_digits) {
    EXPECT_EQ(to_string(unique_id{{0x0123456789abcdef, 1}}), "0123456789abcdef0000000000000001");
}

TEST(texts, a_lock_error_carries_its_failure) {
    const lock_error error{{.code = errc::lost, .lock = "x", .loss = loss_reason::expired}};
    EXPECT_EQ(error.reason(), errc::lost);
    EXPECT_EQ(error.code(), errc::lost);
    EXPECT_EQ(error.info().lock, "x");
    EXPECT_NE(std::string(error.what()).find("lost"), std::string::npos);
}

TEST(texts, what_may_succeed_later_is_retryable) {
    const std::set<errc> retryable{errc::busy, errc::timed_out, errc::outcome_unknown,
                                   errc::unavailable};
    for (int code = 1; code <= static_cast<int>(errc::bad_reply); ++code) {
        const auto one = static_cast<errc>(code);
        EXPECT_EQ(lock_error({.code = one}).retryable(), retryable.contains(one)) << code;
    }
}

TEST(texts, a_result_is_a_value_or_a_failure) {
    result<std::string> good{"text"};
    EXPECT_TRUE(good);
    EXPECT_EQ(*good, "text");
    EXPECT_EQ(good->size(), 4U);
    EXPECT_EQ(std::move(good).value(), "text");
    result<std::string> bad{failure{.code = errc::busy}};
    EXPECT_FALSE(bad);
    EXPECT_EQ(bad.error().code, errc::busy);
    EXPECT_THROW(static_cast<void>(bad.value()), lock_error);
    result<void> fine;
    EXPECT_NO_THROW(fine.value());
    const result<void> wrong{failure{.code = errc::lost}};
    EXPECT_FALSE(wrong);
    EXPECT_THROW(wrong.value(), lock_error);
}

static_assert(!std::is_copy_constructible_v<lease> && std::is_nothrow_move_constructible_v<lease>);
static_assert(std::is_nothrow_move_assignable_v<lease> && std::is_nothrow_destructible_v<lease>);
static_assert(std::is_copy_constructible_v<mutex> && std::is_copy_assignable_v<mutex>);
static_assert(!std::is_copy_constructible_v<lockable<mutex>>);

}  // namespace
}  // namespace holdfast
