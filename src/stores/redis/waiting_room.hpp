// The waiting claims of one client, and the channels that wake them.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <holdfast/store.hpp>

#include "stores/lease_table/gate.hpp"
#include "stores/lease_table/wait_list.hpp"
#include "stores/redis/subscriber.hpp"

namespace holdfast::redis {

/// Where answers go, until it is closed. Shared by everything that waits for Redis.
struct outlet {
    lease_table::event_gate gate;
    store_events* events = nullptr;
};

/// Safe from several threads. A claim enters before it is put before Redis. Its channel is
/// subscribed when it was refused, and it is woken once when that is confirmed: what was published
/// between the refusal and then, nobody heard.
class waiting_room final : public channel_events {
  public:
    explicit waiting_room(std::shared_ptr<outlet> out) : out_(std::move(out)) {}
    void use(std::shared_ptr<subscriber> listener) { listener_ = std::move(listener); }

    /// The cursor for its refusal.
    std::uint64_t enter(const claim_id& claim, const std::string& name);
    /// It was refused: listen for it.
    void refused(const claim_id& claim);
    void leave(const claim_id& claim);
    /// False: something happened since the cursor.
    bool start(call_id call, const claim_id& claim, std::uint64_t cursor) {
        return waits_.start(call, claim, cursor);
    }
    void end(call_id call) { waits_.end(call); }

    void subscribed(const std::string& name) override { wake(name); }
    void published(const std::string& name) override { wake(name); }

  private:
    struct channel {
        std::unordered_set<claim_id> claims{};
        bool listening = false;
    };
    using channel_map = std::unordered_map<std::string, channel>;
    void wake(const std::string& name);
    void retire_locked(channel_map::iterator empty);

    const std::shared_ptr<outlet> out_;
    std::shared_ptr<subscriber> listener_;
    lease_table::wait_list waits_;
    mutable std::mutex mutex_;
    std::unordered_map<claim_id, std::string> places_;
    channel_map channels_;
    std::deque<std::string> idle_;  ///< listened to, though nobody waits: oldest first
};

}  // namespace holdfast::redis
