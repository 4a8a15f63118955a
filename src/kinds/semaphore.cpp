#include <algorithm>
#include <optional>

#include <holdfast/semaphore.hpp>

#include "kinds/make.hpp"

namespace holdfast {
namespace {

constexpr std::uint32_t capacity_max = 1'000'000;

}  // namespace

semaphore::semaphore(client from, std::string_view name, std::uint32_t capacity,
                     lock_options options)
    : client_(std::move(from)), name_(name), capacity_(capacity), options_(options) {
    if (capacity == 0 || capacity > capacity_max) {
        throw lock_error(
            {.code = errc::invalid_argument,
             .detail = "a semaphore has 1 to 1000000 permits, not " + std::to_string(capacity),
             .lock = name_});
    }
    core::require(client_, {.name = name_, .what = kind::semaphore, .next = options_.next});
}

lease semaphore::acquire(std::uint32_t permits, const acquire_options& how) const {
    auto waiting = how;
    if (!waiting.wait) waiting.wait = forever;
    return try_acquire(permits, waiting).value();
}

result<lease> semaphore::try_acquire(std::uint32_t permits, const acquire_options& how) const {
    if (auto wrong = wrong_count(permits)) return *std::move(wrong);
    return core::client_access::of(client_).acquire({.name = name_,
                                                     .what = kind::semaphore,
                                                     .how = access::shared,
                                                     .next = options_.next,
                                                     .permits = permits,
                                                     .capacity = capacity_},
                                                    how, duration::zero());
}

void semaphore::async_acquire(std::uint32_t permits, const acquire_options& how,
                              acquired_handler done) const {
    if (auto wrong = wrong_count(permits)) throw lock_error(*std::move(wrong));
    core::client_access::of(client_).async_acquire({.name = name_,
                                                    .what = kind::semaphore,
                                                    .how = access::shared,
                                                    .next = options_.next,
                                                    .permits = permits,
                                                    .capacity = capacity_},
                                                   how, std::move(done));
}

std::optional<failure> semaphore::wrong_count(std::uint32_t permits) const {
    const auto most = std::min(capacity_, client_.caps().permits_max);
    if (permits >= 1 && permits <= most) return {};
    return failure{.code = errc::invalid_argument,
                   .detail = "asked for " + std::to_string(permits) +
                             " permits, allowed are 1 to " + std::to_string(most),
                   .lock = name_};
}

}  // namespace holdfast
