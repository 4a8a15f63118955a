// The store as one client has it: what it asks goes to the server and comes back through the world.
#pragma once

#include <unordered_set>

#include "simulation/environment.hpp"
#include "stores/lease_table/wait_list.hpp"

namespace holdfast::simulation {

class auditor;
class server;

class link final : public store {
  public:
    link(environment& world, server& to, auditor& audit, node& of, const capabilities& caps)
        : world_(world), server_(to), audit_(audit), node_(of), caps_(caps) {}

    /// The client is no more: nothing is withdrawn.
    void vanish() { vanished_ = true; }
    /// A hint reached the client.
    void woken(const claim_id& waiting);
    /// The connection is back: what may have been missed is asked for again, or waits fail.
    void reconnected(bool with_failure);
    void gone(const hold_ref& which) { events_->gone(which, loss_reason::session_gone); }

    const capabilities& caps() const noexcept override { return caps_; }
    const std::string& where() const noexcept override { return where_; }
    void start(store_events& events) override;
    void stop() noexcept override;
    void acquire(call_id call, const claim& request) override;
    void wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) override;
    void end_wait(call_id call) noexcept override { waits_.end(call); }
    void renew(call_id call, std::span<const renewal_request> requests) override;
    void release(call_id call, std::span<const hold_ref> holds) override;
    void downgrade(call_id call, const renewal_request& request) override;
    inspector& inspect() override;

  private:
    template <class Reply>
    void exchange(std::function<result<Reply>()> at_server,
                  std::function<void(result<Reply>)> at_client);

    environment& world_;
    server& server_;
    auditor& audit_;
    node& node_;
    capabilities caps_;
    std::string where_ = "simulated:";
    store_events* events_ = nullptr;
    bool vanished_ = false;
    lease_table::wait_list waits_;
    std::unordered_set<claim_id> released_;  // and told so
};

}  // namespace holdfast::simulation
