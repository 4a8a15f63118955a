// What a lease points to: one grant, as this client believes in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <holdfast/options.hpp>
#include <holdfast/result.hpp>
#include <holdfast/store.hpp>

#include "core/timer_queue.hpp"

namespace holdfast::core {

struct lane;
struct release_job;

/// `state`, `deadline`, `loss`, `how` and `count` are written under the engine's mutex and read by
/// anybody; the constant members are set once; everything else belongs to the engine's mutex.
class hold : public timed, public std::enable_shared_from_this<hold> {
  public:
    enum class state : std::uint8_t {
        held,
        lost,
        released,  ///< given back, passed on, orphaned or exported: no longer ours to speak of
    };

    hold(engine& by, std::shared_ptr<const claim> request)
        : manager(by), asked(std::move(request)), how(asked->how) {}

    bool valid(time_point now) const noexcept {
        return status.load(std::memory_order_acquire) == state::held &&
               now < deadline.load(std::memory_order_acquire);
    }
    /// An exclusive hold keeps every other claim of this client out.
    bool exclusive() const noexcept { return how == access::exclusive && whole(); }
    /// Not one of several permits of a semaphore.
    bool whole() const noexcept { return asked->what != kind::semaphore; }
    duration ttl() const noexcept { return asked->ttl; }

    void fall_due(engine& in, actions& out) override;

    void tell_lost() noexcept {
        at_risk.request_stop();
        lost.request_stop();
    }

    engine& manager;
    const std::shared_ptr<const claim> asked;
    fencing_token token;

    std::atomic<state> status{state::held};
    std::atomic<time_point> deadline{};
    std::atomic<loss_reason> loss{loss_reason::none};
    std::atomic<access> how;
    std::atomic<std::uint32_t> count{1};  ///< leases on it; more than one only if reentrant

    std::stop_source lost;
    std::stop_source at_risk;

    lane* where = nullptr;
    time_point acquired{};
    time_point hold_end = time_point::max();  ///< from acquire_options::hold_max
    time_point renew_at = time_point::max();
    renewal renew = renewal::automatic;
    owner_id owner{};
    bool reentrant = false;
    bool risk_told = false;
    /// A release that waits for the renewal in flight, so that no renewal follows it.
    std::shared_ptr<release_job> waiting_release;
    std::uint32_t handovers_left = 0;  ///< tokens of the block that are still unused
    std::uint32_t failures = 0;        ///< renewals that failed in a row
    call_id renewing = 0;              ///< the renewal in flight, or zero
};

/// When that is over; the end of time if it is beyond it.
inline time_point end_of(time_point begin, duration length) {
    return length < time_point::max() - begin ? begin + length : time_point::max();
}

}  // namespace holdfast::core
