#include "simulation/audit.hpp"

#include <algorithm>
#include <array>

#include "simulation/node.hpp"
#include "simulation/server.hpp"
#include "support/planted.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;
using core::hold;

constexpr std::array<const char*, static_cast<std::size_t>(checker::count)> checker_names{
    "capacity", "overlap", "belief",  "token", "fencing",  "exact release", "renewal",    "revival",
    "told",     "truth",   "outcome", "once",  "liveness", "wake",          "withdrawal", "leak"};

// A planted bug may leave timers on holds that nobody has any more: then they are kept.
bool planted_anything() {
#if defined(HOLDFAST_PLANTED_BUGS)
    return planted_bug() != bug::none;
#else
    return false;
#endif
}

}  // namespace

const char* to_string(checker which) noexcept {
    return checker_names.at(static_cast<std::size_t>(which));
}

void auditor::fail(checker by, std::string text) {
    if (!found_) found_ = violation{by, std::move(text), world_.now()};
}

void auditor::calm(time_point since, duration prompt) {
    calm_since_ = since;
    prompt_ = prompt;
}

bool auditor::excused(const belief& at) const {
    return !excused_.empty() && excused_.contains(at.held->asked->id);
}

void auditor::excuse(const claim_id& id) {
    excused_.insert(id);
}

void auditor::tokens_restart() {
    tokens_.clear();
    newest_alone_.clear();
}

std::uint64_t auditor::weight(const belief& at) {
    const claim& asked = *at.held->asked;
    if (asked.what == kind::semaphore) return asked.permits;
    return at.shared || at.held->how == access::shared ? 1 : 1000;
}

// By the client's own clock, also while the client stands still.
bool auditor::believed(belief& at) const {
    if (at.held->status != hold::state::held) return false;
    if (const time_point deadline = at.held->deadline; deadline != at.deadline) {
        at.deadline = deadline;
        at.ends = at.who->clock().when(deadline);
    }
    return world_.now() < at.ends;
}

void auditor::acquired(node& who, const core::hold_ptr& held, bool fresh) {
    if (planted_anything()) kept_.push_back(held);
    const bool known =
        std::ranges::any_of(beliefs_, [&](const belief& each) { return each.held == held; });
    if (known) return;  // a nested reentrant lease
    beliefs_.push_back(
        {.who = &who, .name = held->asked->name, .held = held, .begun = world_.now()});
    belief& added = beliefs_.back();
    if (!believed(added)) fail(checker::outcome, added.name + ": acquired, but not held");
    if (fresh) check_token(added);
    check_overlap(added);
    look(added, true);
}

// An exclusive grant is newer than everything before it. Shared grants may be told in another order
// than they were given, but not before an exclusive one that was told first.
void auditor::check_token(const belief& fresh) {
    if (excused(fresh)) return;
    const std::uint64_t token = fresh.held->token.value();
    auto& seen = tokens_[fresh.name];
    auto& alone = newest_alone_[fresh.name];
    const bool exclusive = fresh.held->exclusive();
    const std::uint64_t newest = seen.empty() ? 0 : *seen.rbegin();
    if (!seen.insert(token).second) {
        fail(checker::token, fresh.name + ": token " + std::to_string(token) + " granted twice");
    } else if (exclusive ? token < newest : token < alone) {
        fail(checker::token, fresh.name + ": token " + std::to_string(token) + " came late");
    }
    if (exclusive) alone = token;
}

void auditor::check_overlap(belief& fresh) {
    const claim& asked = *fresh.held->asked;
    const std::uint64_t capacity = asked.what == kind::semaphore ? asked.capacity : 1000;
    std::uint64_t sum = 0;
    std::uint64_t allowed = 0;
    for (belief& each : beliefs_) {
        if (each.name != fresh.name || !believed(each)) continue;
        (excused(each) ? allowed : sum) += weight(each);
    }
    if (sum > capacity) fail(checker::overlap, fresh.name + ": more holders than it allows");
    if (sum + allowed > capacity) ++overlaps_allowed;
}

void auditor::dropped(const core::hold_ptr& held) {
    std::erase_if(beliefs_, [&](const belief& each) { return each.held == held; });
}

void auditor::downgrading(const core::hold_ptr& held) {
    for (belief& each : beliefs_) {
        if (each.held == held) each.shared = true;
    }
}

void auditor::forget(const node& who) {
    std::erase_if(beliefs_, [&](const belief& each) { return each.who == &who; });
}

void auditor::clock_leapt(const node& who) {
    for (belief& each : beliefs_) {
        if (each.who == &who) each.deadline = {};
    }
}

void auditor::look(const node& who) {
    for (belief& each : beliefs_) {
        if (each.who == &who) look(each, true);
    }
}

void auditor::look(const std::string& name) {
    for (belief& each : beliefs_) {
        if (each.name == name) look(each, false);
    }
}

void auditor::look(belief& at, bool own) {
    const bool holds = believed(at);
    if (holds && at.ended) fail(checker::revival, at.name + ": a lost hold holds again");
    if (!holds) at.ended = true;
    if (holds && !excused(at)) {
        const auto until = store_->held_until(at.name, at.held->asked->id);
        if (!until) {
            fail(checker::belief, at.name + ": believed in, but not in the store");
        } else if (at.ends > *until) {
            fail(checker::belief, at.name + ": believed in for longer than the store keeps it");
        }
    }
    if (own && !holds) look_at_loss(at);
}

void auditor::look_at_loss(belief& at) {
    const hold& h = *at.held;
    const bool told = h.lost.stop_requested() && h.at_risk.stop_requested();
    if (h.status == hold::state::held) {
        // At the deadline itself its timer may still be about to run.
        if (world_.now() > std::max(at.ends, at.who->running_since) + 1us) {
            fail(checker::told, at.name + ": the deadline passed without a word");
        }
        return;
    }
    if (h.status != hold::state::lost || std::exchange(at.loss_seen, true)) return;
    ++losses;
    if (!told) fail(checker::told, at.name + ": lost without a word");
    const loss_reason why = h.loss;
    const bool over = world_.now() >= at.ends;
    const bool ordered = why == loss_reason::shut_down || why == loss_reason::session_gone;
    if (!over && !ordered && !excused(at)) {
        fail(checker::truth, at.name + ": lost before its time: " + to_string(why));
    }
    const bool by_time = why == loss_reason::expired || why == loss_reason::unreachable;
    if (!by_time || h.renew != renewal::automatic || excused(at)) return;
    // One failed renewal costs a third of the ttl and a pause; then the next one is to succeed. A
    // hold whose grant had to be asked for again may have begun with less time than that.
    const duration enough = h.ttl() / 3 + h.ttl() / 8 + 200ms;
    if (std::max(at.who->trouble, at.begun) + enough < at.ends) {
        fail(checker::renewal, at.name + ": lost for want of renewal, while nothing was wrong");
    }
}

void auditor::granted_after_wait(const std::string& name, time_point could_have, bool by_time) {
    const time_point since = std::max(could_have, calm_since_);
    if (since == time_point::max() || world_.now() < calm_since_) return;
    if (world_.now() - since > prompt_ + (by_time ? lease_table::poll_max : duration{})) {
        fail(checker::wake, name + ": free, but its waiter came late");
    }
}

}  // namespace holdfast::simulation
