#include <algorithm>

#include <holdfast/multi_lock.hpp>

#include "kinds/make.hpp"

namespace holdfast {
namespace {

constexpr std::size_t names_max = 100;

}  // namespace

multi_lock::multi_lock(client from, std::vector<std::string> names, lock_options options)
    : client_(std::move(from)), names_(std::move(names)), options_(options) {
    std::ranges::sort(names_);
    // Not std::ranges::unique: Clang 14 does not understand the subrange of this standard library.
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    if (names_.empty() || names_.size() > names_max) {
        throw lock_error(
            {.code = errc::invalid_argument,
             .detail = "a multi_lock has 1 to 100 names, not " + std::to_string(names_.size())});
    }
    for (const auto& name : names_) core::require(client_, {.name = name, .next = options_.next});
}

multi_lease multi_lock::acquire(const acquire_options& how) const {
    return take_all(how, forever).value();
}

result<multi_lease> multi_lock::try_acquire(const acquire_options& how) const {
    return take_all(how, duration::zero());
}

result<multi_lease> multi_lock::take_all(const acquire_options& how, duration wait) const {
    auto& session = core::client_access::of(client_);
    wait = how.wait.value_or(wait);
    const time_point start = session.core().now();
    std::vector<lease> taken;
    for (const auto& name : names_) {
        auto one = how;
        if (wait != forever && wait > duration::zero()) {
            one.wait = std::max(wait - (session.core().now() - start), duration::zero());
        } else {
            one.wait = wait;
        }
        auto got = session.acquire({.name = name, .next = options_.next}, one, wait);
        // What was taken so far is released by its destructor.
        if (!got) return std::move(got).error();
        taken.push_back(*std::move(got));
    }
    return multi_lease{std::move(taken)};
}

}  // namespace holdfast
