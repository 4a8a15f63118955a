#include <holdfast/mutex.hpp>

#include "kinds/make.hpp"

namespace holdfast {

mutex::mutex(client from, std::string_view name, lock_options options)
    : client_(std::move(from)), name_(name), options_(options) {
    core::require(client_, {.name = name_, .next = options_.next});
}

lease mutex::acquire(const acquire_options& how) const {
    return core::client_access::of(client_)
        .acquire({.name = name_, .next = options_.next}, how, forever)
        .value();
}

result<lease> mutex::try_acquire(const acquire_options& how) const {
    return core::client_access::of(client_).acquire({.name = name_, .next = options_.next}, how,
                                                    duration::zero());
}

void mutex::async_acquire(const acquire_options& how, acquired_handler done) const {
    core::client_access::of(client_).async_acquire({.name = name_, .next = options_.next}, how,
                                                   std::move(done));
}

}  // namespace holdfast
