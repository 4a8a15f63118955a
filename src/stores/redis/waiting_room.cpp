#include "stores/redis/waiting_room.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

// Who waited for a name will soon wait for it again, so its channel is kept for a while.
constexpr std::size_t idle_max = 32;

}  // namespace

std::uint64_t waiting_room::enter(const claim_id& claim, const std::string& name) {
    {
        std::lock_guard guard{mutex_};
        if (places_.try_emplace(claim, name).second) {
            channels_[name].claims.insert(claim);
            std::erase(idle_, name);
        }
    }
    return waits_.open(claim);
}

// The listener is told under our mutex, so that it hears of a channel in the order of what happens
// to it here.
void waiting_room::refused(const claim_id& claim) {
    std::lock_guard guard{mutex_};
    const auto place = places_.find(claim);
    if (place == places_.end()) return;
    if (std::exchange(channels_[place->second].listening, true)) return;
    listener_->subscribe(place->second);
}

void waiting_room::leave(const claim_id& claim) {
    waits_.close(claim);
    std::lock_guard guard{mutex_};
    const auto place = places_.extract(claim);
    if (place.empty()) return;
    const auto found = channels_.find(place.mapped());
    found->second.claims.erase(claim);
    if (found->second.claims.empty()) retire_locked(found);
}

void waiting_room::retire_locked(channel_map::iterator empty) {
    if (!empty->second.listening) {
        channels_.erase(empty);
        return;
    }
    idle_.push_back(empty->first);
    if (idle_.size() <= idle_max) return;
    listener_->unsubscribe(idle_.front());
    channels_.erase(idle_.front());
    idle_.pop_front();
}

void waiting_room::wake(const std::string& name) {
    std::vector<claim_id> claims;
    {
        std::lock_guard guard{mutex_};
        const auto found = channels_.find(name);
        if (found == channels_.end()) return;
        claims.assign(found->second.claims.begin(), found->second.claims.end());
    }
    for (const auto& claim : claims) {
        const auto call = waits_.wake(claim);
        if (!call) continue;
        if (const auto pass = out_->gate.enter()) out_->events->changed(*call, {});
    }
}

}  // namespace holdfast::redis
