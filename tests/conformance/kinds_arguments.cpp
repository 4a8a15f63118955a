// Arguments that make no sense are refused before anything reaches the store, with a text that
// names what is allowed (spec I1 to I5, I11).
#include "conformance/users.hpp"
#include "support/wrapped_store.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

// A client whose store counts.
struct counted {
    explicit counted(fixture& f)
        : user(client::on(std::make_unique<wrapped_store>(f.make(), seen), {.ttl = f.ttl()})) {}
    std::shared_ptr<traffic> seen = std::make_shared<traffic>();
    client user;
};

void expect_refused(const counted& c, const std::optional<failure>& why, const std::string& names,
                    errc code = errc::invalid_argument) {
    ASSERT_TRUE(why) << names;
    EXPECT_EQ(why->code, code) << names;
    EXPECT_NE(why->detail.find(names), std::string::npos) << why->detail << " / " << names;
    EXPECT_EQ(c.seen->all(), 0U) << names;
}

template <class T>
std::optional<failure> error_of(const result<T>& from) {
    return from ? std::nullopt : std::optional{from.error()};
}

ROW(kinds, a_ttl_outside_the_limits_is_refused) {
    counted c{f};
    const mutex x{c.user, "x"};
    for (const auto wrong : {duration{-1}, duration{-1h}, duration{1ms}, duration{9'999us},
                             duration{25h}, duration{std::int64_t{1} << 62U}, duration::max()}) {
        expect_refused(c, error_of(x.try_acquire({.ttl = wrong})), "10 ms");
        expect_refused(c, error_of(x.try_acquire({.wait = 1s, .ttl = wrong})), "86400000 ms");
    }
    expect_refused(c, error_of(x.try_acquire({.ttl = duration::min()})), "10 ms");
    {
        const auto shortest = x.try_acquire({.ttl = c.user.caps().ttl_min});
        EXPECT_TRUE(shortest || shortest.error().code != errc::invalid_argument)
            << "on a busy machine it may be over too soon";
    }
    EXPECT_TRUE(x.try_acquire({.ttl = c.user.caps().ttl_max}));
    EXPECT_TRUE(x.try_acquire({.ttl = duration::zero()})) << "zero: the client's own";
}

ROW(kinds, a_renewal_outside_the_limits_is_refused_and_the_lease_stays) {
    auto user = connect(f);
    lease held = mutex{user, "x"}.acquire();
    for (const auto wrong : {duration{-1}, duration{1ms}, duration{25h}, duration::max()}) {
        EXPECT_EQ(held.try_renew(wrong).error().code, errc::invalid_argument);
    }
    EXPECT_TRUE(held.held());
}

ROW(kinds, a_wrong_wait_or_hold_max_is_refused) {
    counted c{f};
    const mutex x{c.user, "x"};
    expect_refused(c, error_of(x.try_acquire({.wait = -1ns})), "zero");
    expect_refused(c, error_of(x.try_acquire({.wait = duration::min()})), "zero");
    expect_refused(c, failure_of([&] { return x.acquire({.wait = -1s}); }), "zero");
    expect_refused(c, error_of(x.try_acquire({.hold_max = 0s})), "more than zero");
    expect_refused(c, error_of(x.try_acquire({.hold_max = -1s})), "more than zero");
    expect_refused(c, error_of(multi_lock{c.user, {"x"}}.try_acquire({.wait = -1s})), "zero");
    expect_refused(c, error_of(c.user.try_wait_free("x", {.wait = -1s})), "zero");
}

ROW(kinds, names_have_1_to_255_bytes) {
    counted c{f};
    for (const std::size_t size : {std::size_t{0}, std::size_t{256}, std::size_t{1} << 20U}) {
        const std::string wrong(size, 'n');
        const auto refuse = [&](auto&& make) {
            expect_refused(c, failure_of([&] { return make(), 0; }), "1 to 255");
        };
        refuse([&] { mutex(c.user, wrong); });
        refuse([&] { reentrant_mutex(c.user, wrong); });
        refuse([&] { multi_lock(c.user, {"x", wrong}); });
        expect_refused(c, error_of(c.user.try_wait_free(wrong)), "1 to 255");
        expect_refused(c, error_of(c.user.show(wrong)), "1 to 255");
        expect_refused(c, error_of(c.user.evict(wrong, fencing_token{1}, "me")), "1 to 255");
    }
    EXPECT_TRUE((mutex{c.user, std::string(255, 'n')}.try_acquire()));
    EXPECT_TRUE((mutex{c.user, "n"}.try_acquire()));
}

ROW(kinds, names_of_shared_mutexes_and_semaphores_have_1_to_255_bytes, &capabilities::shared,
    &capabilities::semaphores) {
    counted c{f};
    for (const std::size_t size : {std::size_t{0}, std::size_t{256}, std::size_t{1} << 20U}) {
        const std::string wrong(size, 'n');
        expect_refused(c, failure_of([&] { return shared_mutex(c.user, wrong), 0; }), "1 to 255");
        expect_refused(c, failure_of([&] { return semaphore(c.user, wrong, 1), 0; }), "1 to 255");
    }
}

ROW(kinds, permits_are_1_to_the_capacity, &capabilities::semaphores) {
    counted c{f};
    for (const std::uint32_t wrong : {0U, 1'000'001U, ~0U}) {
        expect_refused(c, failure_of([&] { return semaphore(c.user, "x", wrong), 0; }),
                       "1 to 1000000");
    }
    const semaphore x{c.user, "x", 3};
    for (const std::uint32_t wrong : {0U, 4U, ~0U}) {
        expect_refused(c, error_of(x.try_acquire(wrong)), "1 to 3");
        expect_refused(c, failure_of([&] { return x.acquire(wrong); }), "1 to 3");
        expect_refused(c, failure_of([&] { return x.async_acquire(wrong, {}, {}), 0; }), "1 to 3");
    }
    const semaphore y{c.user, "y", 1'000'000};
    const auto most = c.user.caps().permits_max;
    if (most < 1'000'000) {
        expect_refused(c, error_of(y.try_acquire(most + 1)), "1 to " + std::to_string(most));
    }
    EXPECT_TRUE(y.try_acquire(most));
}

ROW(kinds, a_multi_lock_has_1_to_100_names) {
    counted c{f};
    expect_refused(c, failure_of([&] { return multi_lock(c.user, {}), 0; }), "1 to 100");
    std::vector<std::string> names;
    for (int i = 0; i <= 100; ++i) names.push_back(std::to_string(i));
    expect_refused(c, failure_of([&] { return multi_lock(c.user, names), 0; }), "1 to 100");
    names.pop_back();
    EXPECT_TRUE(multi_lock(c.user, names).try_acquire());
}

ROW(kinds, wrong_options_of_a_client_are_refused_when_it_is_opened) {
    const auto opened = [&](client_options options) {
        return failure_of([&] { return client::on(f.make(), std::move(options)), 0; });
    };
    EXPECT_EQ(opened({.ttl = 0s})->code, errc::invalid_argument);
    EXPECT_EQ(opened({.ttl = 25h})->code, errc::invalid_argument);
    EXPECT_EQ(opened({.ttl = -1s})->code, errc::invalid_argument);
    EXPECT_EQ(opened({.release_wait = -1s})->code, errc::invalid_argument);
    EXPECT_FALSE(opened({}));
}

ROW(kinds, a_long_label_is_cut) {
    auto user = connect(f, {.label = std::string(10'000, 'l')});
    auto other = connect(f);
    const lease held = mutex{user, "x"}.acquire();
    const lease own = mutex{user, "y"}.acquire({.label = std::string(10'000, 'o')});
    for (const auto* name : {"x", "y"}) {
        const auto tried = mutex{other, name}.try_acquire();
        ASSERT_FALSE(tried);
        ASSERT_TRUE(tried.error().holder);
        EXPECT_LT(tried.error().holder->owner.size(), 600U);
    }
}

}  // namespace
}  // namespace holdfast::tests
