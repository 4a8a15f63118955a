#include "stores/lease_table/wait_list.hpp"

namespace holdfast::lease_table {

std::uint64_t wait_list::open(const claim_id& claim) {
    std::lock_guard guard{mutex_};
    return entries_[claim].wakes;
}

void wait_list::close(const claim_id& claim) {
    std::lock_guard guard{mutex_};
    const auto found = entries_.find(claim);
    if (found == entries_.end()) return;
    if (found->second.call) calls_.erase(*found->second.call);
    entries_.erase(found);
}

std::optional<call_id> wait_list::wake(const claim_id& claim) {
    std::lock_guard guard{mutex_};
    const auto found = entries_.find(claim);
    if (found == entries_.end()) return {};
    ++found->second.wakes;
    auto call = found->second.call;
    found->second.call.reset();
    if (call) calls_.erase(*call);
    return call;
}

std::vector<call_id> wait_list::wake_all() {
    std::lock_guard guard{mutex_};
    std::vector<call_id> calls;
    for (auto& [claim, waiting] : entries_) {
        ++waiting.wakes;
        if (waiting.call) calls.push_back(*waiting.call);
        waiting.call.reset();
    }
    calls_.clear();
    return calls;
}

bool wait_list::start(call_id call, const claim_id& claim, std::uint64_t cursor) {
    std::lock_guard guard{mutex_};
    const auto found = entries_.find(claim);
    if (found == entries_.end() || found->second.wakes != cursor) return false;
    found->second.call = call;
    calls_.emplace(call, claim);
    return true;
}

void wait_list::end(call_id call) {
    std::lock_guard guard{mutex_};
    const auto found = calls_.find(call);
    if (found == calls_.end()) return;
    if (const auto waiting = entries_.find(found->second); waiting != entries_.end()) {
        waiting->second.call.reset();
    }
    calls_.erase(found);
}

bool wait_list::contains(const claim_id& claim) const {
    std::lock_guard guard{mutex_};
    return entries_.contains(claim);
}

}  // namespace holdfast::lease_table
