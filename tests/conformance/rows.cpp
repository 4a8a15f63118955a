#include "conformance/rows.hpp"

#include <holdfast/holdfast.hpp>

namespace holdfast::tests {
namespace {

template <class Call>
errc refusal_of(Call&& call) {
    try {
        call();
    } catch (const lock_error& error) {
        return error.reason();
    }
    return errc{};
}

// What a user does who wants the capability.
errc ask_for(client& from, capability missing) {
    if (missing == &capabilities::shared) {
        return refusal_of([&] { shared_mutex{from, "x"}; });
    }
    if (missing == &capabilities::semaphores) {
        return refusal_of([&] { semaphore(from, "x", 3); });
    }
    if (missing == &capabilities::fair) {
        return refusal_of([&] { mutex(from, "x", {.next = order::fair}); });
    }
    if (missing == &capabilities::inspect) {
        return refusal_of([&] { static_cast<void>(from.list().value()); });
    }
    if (missing == &capabilities::evict) {
        return refusal_of(
            [&] { static_cast<void>(from.evict("x", fencing_token{1}, "me").value()); });
    }
    return errc::unsupported;  // nothing that could be asked for: a fact for the core alone
}

}  // namespace

void row::run(std::initializer_list<capability> needed, void (*body)(fixture&)) {
    const auto in = GetParam().make();
    if (needed.size() != 0) {
        auto user = in->connect();
        for (const auto one : needed) {
            if (!(user.caps().*one)) return expect_refused(*in, one);
        }
    }
    body(*in);
}

void expect_refused(fixture& f, capability missing) {
    auto user = f.connect();
    ASSERT_FALSE(user.caps().*missing);
    EXPECT_EQ(ask_for(user, missing), errc::unsupported);
    EXPECT_EQ(f.requests().value_or(0), 0U) << "it was asked all the same";
}

}  // namespace holdfast::tests
