#include <holdfast/shared_mutex.hpp>

#include "kinds/make.hpp"

namespace holdfast {
namespace {

core::wanted claim_for(const std::string& name, access how, const lock_options& options) {
    return {.name = name, .what = kind::shared_mutex, .how = how, .next = options.next};
}

}  // namespace

shared_mutex::shared_mutex(client from, std::string_view name, lock_options options)
    : client_(std::move(from)), name_(name), options_(options) {
    core::require(client_, claim_for(name_, access::shared, options_));
}

lease shared_mutex::acquire(const acquire_options& how) const {
    return core::client_access::of(client_)
        .acquire(claim_for(name_, access::exclusive, options_), how, forever)
        .value();
}

result<lease> shared_mutex::try_acquire(const acquire_options& how) const {
    return core::client_access::of(client_).acquire(claim_for(name_, access::exclusive, options_),
                                                    how, duration::zero());
}

void shared_mutex::async_acquire(const acquire_options& how, acquired_handler done) const {
    core::client_access::of(client_).async_acquire(claim_for(name_, access::exclusive, options_),
                                                   how, std::move(done));
}

lease shared_mutex::acquire_shared(const acquire_options& how) const {
    return core::client_access::of(client_)
        .acquire(claim_for(name_, access::shared, options_), how, forever)
        .value();
}

result<lease> shared_mutex::try_acquire_shared(const acquire_options& how) const {
    return core::client_access::of(client_).acquire(claim_for(name_, access::shared, options_), how,
                                                    duration::zero());
}

void shared_mutex::async_acquire_shared(const acquire_options& how, acquired_handler done) const {
    core::client_access::of(client_).async_acquire(claim_for(name_, access::shared, options_), how,
                                                   std::move(done));
}

result<void> shared_mutex::try_downgrade(lease& held) const {
    const auto& hold = core::lease_access::hold_of(held);
    if (!hold || hold->asked->name != name_ || hold->how != access::exclusive ||
        hold->asked->what == kind::semaphore || hold->reentrant) {
        return failure{.code = errc::invalid_argument,
                       .detail = "downgrade wants an exclusive lease of this name",
                       .lock = name_};
    }
    return core::client_access::of(client_).downgrade(hold);
}

void shared_mutex::downgrade(lease& held) const {
    try_downgrade(held).value();
}

}  // namespace holdfast
