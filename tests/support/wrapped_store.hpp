// A store around another one: counts what reaches it, and can claim to be able to do less.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <holdfast/store.hpp>

namespace holdfast::tests {

/// How many requests of each sort reached the store.
struct traffic {
    std::atomic<std::size_t> acquires{0};
    std::atomic<std::size_t> waits{0};
    std::atomic<std::size_t> renews{0};
    std::atomic<std::size_t> renewed_holds{0};
    std::atomic<std::size_t> releases{0};
    std::atomic<std::size_t> downgrades{0};
    std::atomic<std::size_t> inspections{0};
    std::size_t all() const {
        return acquires + waits + renews + releases + downgrades + inspections;
    }
};

class wrapped_store : public store, private inspector {
  public:
    explicit wrapped_store(std::unique_ptr<store> inner,
                           std::shared_ptr<traffic> seen = std::make_shared<traffic>())
        : inner_(std::move(inner)), seen_(std::move(seen)), caps_(inner_->caps()) {}

    /// Facts that are not true of the inner store: for what the core makes of them.
    void pretend(const capabilities& caps) { caps_ = caps; }

    const capabilities& caps() const noexcept override { return caps_; }
    const std::string& where() const noexcept override { return inner_->where(); }
    void start(store_events& events) override { inner_->start(events); }
    void stop() noexcept override { inner_->stop(); }
    void acquire(call_id call, const claim& request) override {
        ++seen_->acquires;
        inner_->acquire(call, request);
    }
    void wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) override {
        ++seen_->waits;
        inner_->wait(call, waiting, cursor);
    }
    void end_wait(call_id call) noexcept override { inner_->end_wait(call); }
    void renew(call_id call, std::span<const renewal_request> requests) override {
        ++seen_->renews;
        seen_->renewed_holds += requests.size();
        inner_->renew(call, requests);
    }
    void release(call_id call, std::span<const hold_ref> holds) override {
        ++seen_->releases;
        inner_->release(call, holds);
    }
    void downgrade(call_id call, const renewal_request& request) override {
        ++seen_->downgrades;
        inner_->downgrade(call, request);
    }
    inspector& inspect() override { return *this; }

  private:
    result<std::vector<lock_record>> list(std::string_view prefix, bool all) override {
        ++seen_->inspections;
        return inner_->inspect().list(prefix, all);
    }
    result<lock_record> show(std::string_view name) override {
        ++seen_->inspections;
        return inner_->inspect().show(name);
    }
    result<holder_record> evict(std::string_view name, fencing_token token,
                                std::string_view who) override {
        ++seen_->inspections;
        return inner_->inspect().evict(name, token, who);
    }
    std::vector<finding> examine() override {
        ++seen_->inspections;
        return inner_->inspect().examine();
    }

    const std::unique_ptr<store> inner_;
    const std::shared_ptr<traffic> seen_;
    capabilities caps_;
};

}  // namespace holdfast::tests
