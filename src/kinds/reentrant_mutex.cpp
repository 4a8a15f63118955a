#include <holdfast/reentrant_mutex.hpp>

#include "kinds/make.hpp"

namespace holdfast {
namespace {

owner_id or_this_thread(owner_id owner) {
    return owner.chosen() ? owner : owner_id::this_thread();
}

}  // namespace

reentrant_mutex::reentrant_mutex(client from, std::string_view name, lock_options options)
    : client_(std::move(from)), name_(name), options_(options) {
    core::require(client_, {.name = name_, .next = options_.next});
}

lease reentrant_mutex::acquire(const acquire_options& how) const {
    return core::client_access::of(client_)
        .acquire({.name = name_, .next = options_.next, .reentrant = true}, how, forever)
        .value();
}

result<lease> reentrant_mutex::try_acquire(const acquire_options& how) const {
    return core::client_access::of(client_).acquire(
        {.name = name_, .next = options_.next, .reentrant = true}, how, duration::zero());
}

std::uint32_t reentrant_mutex::hold_count(owner_id owner) const {
    auto& session = core::client_access::of(client_);
    return session.forked() ? 0 : session.core().hold_count(name_, or_this_thread(owner));
}

bool reentrant_mutex::held_by(owner_id owner) const {
    return hold_count(owner) > 0;
}

}  // namespace holdfast
