#include "support/party.hpp"

#include "support/random.hpp"

namespace holdfast::tests {

party::party(fixture& in) : fixture_(in), store_(in.make()) {
    store_->start(*this);
}

party::~party() {
    leave();
}

void party::leave() {
    store_->stop();
}

claim party::want(const std::string& name) const {
    claim what;
    what.name = name;
    what.id = support::new_id();
    what.ttl = fixture_.ttl();
    what.owner = "here/1/test";
    return what;
}

claim party::want_shared(const std::string& name) const {
    auto what = want(name);
    what.what = kind::shared_mutex;
    what.how = access::shared;
    return what;
}

claim party::want_permits(const std::string& name, std::uint32_t permits,
                          std::uint32_t capacity) const {
    auto what = want(name);
    what.what = kind::semaphore;
    what.how = access::shared;
    what.permits = permits;
    what.capacity = capacity;
    return what;
}

claim party::waiting(claim what) {
    what.waits = true;
    return what;
}

template <class T>
void party::keep(answers<T>& in, call_id call, result<T> answer) {
    std::lock_guard guard{mutex_};
    in.insert_or_assign(call, std::move(answer));
    arrived_.notify_all();
}

template <class T>
result<T> party::await(answers<T>& in, call_id call) {
    std::unique_lock lock{mutex_};
    if (!arrived_.wait_for(lock, std::chrono::seconds{10}, [&] { return in.contains(call); })) {
        return failure{.code = errc::unavailable, .detail = "no answer"};
    }
    auto found = in.extract(call);
    return std::move(found.mapped());
}

void party::acquired(call_id call, result<acquire_reply> answer) {
    keep(acquired_, call, std::move(answer));
}
void party::changed(call_id call, result<void> answer) {
    keep(changed_, call, std::move(answer));
}
void party::renewed(call_id call, result<std::vector<renewal_reply>> answer) {
    keep(renewed_, call, std::move(answer));
}
void party::released(call_id call, result<std::vector<release_reply>> answer) {
    keep(released_, call, std::move(answer));
}
void party::downgraded(call_id call, result<renewal_reply> answer) {
    keep(downgraded_, call, std::move(answer));
}
void party::gone(const hold_ref&, loss_reason) {
}

result<acquire_reply> party::acquire(const claim& what) {
    const auto call = ++next_;
    store_->acquire(call, what);
    return await(acquired_, call);
}

std::optional<granted> party::take(const claim& what) {
    const auto answer = acquire(what);
    const auto* yes = answer ? std::get_if<granted>(&*answer) : nullptr;
    return yes != nullptr ? std::optional{*yes} : std::nullopt;
}

std::optional<refused> party::refusal(const claim& what) {
    const auto answer = acquire(what);
    const auto* no = answer ? std::get_if<refused>(&*answer) : nullptr;
    return no != nullptr ? std::optional{*no} : std::nullopt;
}

call_id party::wait(const claim& what, std::uint64_t cursor) {
    const auto call = ++next_;
    store_->wait(call, {what.name, what.id}, cursor);
    return call;
}

bool party::woken(call_id call) {
    return fixture_.until(
        [&] {
            std::lock_guard guard{mutex_};
            return changed_.contains(call);
        },
        std::chrono::seconds{2});
}

renewal_reply party::renew(const claim& what, duration ttl, binding bind, fencing_token token) {
    auto answer = renew({{.hold = {what.name, what.id}, .ttl = ttl, .bind = bind, .token = token}});
    return answer && answer->size() == 1 ? answer->front()
                                         : renewal_reply{.lost = loss_reason::unreachable};
}

result<std::vector<renewal_reply>> party::renew(std::vector<renewal_request> requests) {
    const auto call = ++next_;
    store_->renew(call, requests);
    return await(renewed_, call);
}

release_reply party::release(const claim& what) {
    auto answer = release(std::vector{hold_ref{what.name, what.id}});
    return answer.value().at(0);
}

result<std::vector<release_reply>> party::release(std::vector<hold_ref> holds) {
    const auto call = ++next_;
    store_->release(call, holds);
    return await(released_, call);
}

renewal_reply party::downgrade(const claim& what) {
    const auto call = ++next_;
    store_->downgrade(call, {.hold = {what.name, what.id}, .ttl = what.ttl});
    auto answer = await(downgraded_, call);
    return answer ? *answer : renewal_reply{.lost = loss_reason::unreachable};
}

}  // namespace holdfast::tests
