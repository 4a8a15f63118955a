// One user of a bare store: asks, and keeps the answers, so that a test reads like a dialogue.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <holdfast/store.hpp>

#include "support/fixture.hpp"

namespace holdfast::tests {

/// Every call waits for its answer with a deadline; an answer that does not come is
/// errc::unavailable with the detail "no answer".
class party final : public store_events {
  public:
    explicit party(fixture& in);
    ~party();
    party(const party&) = delete;
    party& operator=(const party&) = delete;

    /// A claim of a new id with the fixture's ttl.
    claim want(const std::string& name) const;
    claim want_shared(const std::string& name) const;
    claim want_permits(const std::string& name, std::uint32_t permits,
                       std::uint32_t capacity) const;
    /// The same, that keeps a place in the queue if refused.
    static claim waiting(claim what);

    result<acquire_reply> acquire(const claim& what);
    /// The grant; none if it was refused or failed.
    std::optional<granted> take(const claim& what);
    /// The refusal; none if it was granted or failed.
    std::optional<refused> refusal(const claim& what);
    /// Starts a wait after a refusal. Ended waits are asked for by woken().
    call_id wait(const claim& what, std::uint64_t cursor);
    bool woken(call_id call);
    void end_wait(call_id call) { store_->end_wait(call); }
    renewal_reply renew(const claim& what, duration ttl, binding bind = binding::keep,
                        fencing_token token = {});
    result<std::vector<renewal_reply>> renew(std::vector<renewal_request> requests);
    release_reply release(const claim& what);
    result<std::vector<release_reply>> release(std::vector<hold_ref> holds);
    renewal_reply downgrade(const claim& what);
    inspector& inspect() { return store_->inspect(); }
    store& target() { return *store_; }
    /// Says good-bye, as a process does that ends in good order.
    void leave();

    // store_events
    void acquired(call_id call, result<acquire_reply> answer) override;
    void changed(call_id call, result<void> answer) override;
    void renewed(call_id call, result<std::vector<renewal_reply>> answer) override;
    void released(call_id call, result<std::vector<release_reply>> answer) override;
    void downgraded(call_id call, result<renewal_reply> answer) override;
    void gone(const hold_ref& hold, loss_reason why) override;

  private:
    template <class T>
    using answers = std::unordered_map<call_id, result<T>>;
    template <class T>
    void keep(answers<T>& in, call_id call, result<T> answer);
    template <class T>
    result<T> await(answers<T>& in, call_id call);

    fixture& fixture_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    call_id next_ = 0;
    answers<acquire_reply> acquired_;
    answers<void> changed_;
    answers<std::vector<renewal_reply>> renewed_;
    answers<std::vector<release_reply>> released_;
    answers<renewal_reply> downgraded_;
    std::unique_ptr<store> store_;
};

}  // namespace holdfast::tests
