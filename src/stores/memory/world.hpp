// The store in memory: the executable specification of the contract, and what the test kit and the
// URL `memory:` are made of.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <holdfast/store.hpp>

#include "stores/lease_table/gate.hpp"
#include "stores/lease_table/lease_table.hpp"
#include "stores/lease_table/wait_list.hpp"

namespace holdfast::memory {

class memory_store;

/// Where events for one client arrive from the threads of others, until it closes the gate.
struct mailbox {
    explicit mailbox(store_events& events) : to(events) {}
    lease_table::event_gate gate;
    store_events& to;
};

/// What several clients share. Safe from several threads. Must be held by a shared_ptr.
class world : public std::enable_shared_from_this<world> {
  public:
    /// `clock` is the store's clock.
    explicit world(std::function<time_point()> clock) : clock_(std::move(clock)) {}

    std::unique_ptr<memory_store> connect();
    /// Ends a hold as if by accident; `told`: its client learns it at once.
    void lose(const hold_ref& hold, loss_reason why, bool told);
    lock_record show(const std::string& name);

  private:
    friend class memory_store;
    using table = std::unordered_map<std::string, lease_table::lock_rows>;
    template <class Step>
    auto apply(const client_id& self, const std::string& name, Step&& decide);
    void settle(table::iterator entry);
    void deliver(const std::vector<lease_table::wake>& wakes);

    const std::function<time_point()> clock_;
    std::mutex mutex_;
    table table_;
    fencing_token floor_;  ///< above every token of a name that was forgotten
    struct member {
        memory_store* store;
        std::shared_ptr<mailbox> mail;
    };
    std::unordered_map<client_id, member> clients_;
};

/// One client of a world. Answers from inside the call.
class memory_store final : public store, private inspector {
  public:
    memory_store(std::shared_ptr<world> in, const client_id& self);
    ~memory_store() override;

    /// While true every call fails with errc::unavailable, and wake-ups do not arrive.
    void cut(bool unreachable) noexcept { cut_ = unreachable; }

    const capabilities& caps() const noexcept override;
    const std::string& where() const noexcept override;
    void start(store_events& events) override;
    void stop() noexcept override;
    void acquire(call_id call, const claim& request) override;
    void wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) override;
    void end_wait(call_id call) noexcept override;
    void renew(call_id call, std::span<const renewal_request> requests) override;
    void release(call_id call, std::span<const hold_ref> holds) override;
    void downgrade(call_id call, const renewal_request& request) override;
    inspector& inspect() override { return *this; }

  private:
    friend class world;
    result<std::vector<lock_record>> list(std::string_view prefix, bool all) override;
    result<lock_record> show(std::string_view name) override;
    result<holder_record> evict(std::string_view name, fencing_token token,
                                std::string_view who) override;
    std::vector<finding> examine() override;

    const std::shared_ptr<world> world_;
    const client_id self_;
    store_events* events_ = nullptr;
    std::shared_ptr<mailbox> mail_;
    std::atomic<bool> cut_{false};
    lease_table::wait_list waits_;
};

}  // namespace holdfast::memory
