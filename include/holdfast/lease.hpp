// The lease: a hold with an end.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

namespace holdfast {

namespace core {
class hold;
class lease_access;
}  // namespace core

/// The form in which a hold travels to another process: see lease::export_ticket.
struct ticket {
    std::string text;  ///< printable ASCII, one word; whoever has it can adopt the hold
};

/// A hold on a lock. It *is* the hold: move-only, released by its destructor, bound to no thread.
///
///     lease l = stock.acquire({.wait = 2s});
///     while (more() && !l.lost().stop_requested()) step();
///     db.deduct(1001, l.token());
///
/// State:            held() | lost()     | loss()      release()
///   held            true   | not yet    | none        frees it
///   lost            false  | requested  | the reason  errc::lost; also tidies up in the store
///   released, moved false  | not        | none        errc::not_held
///
/// A hold is believed in only until a local deadline, counted from *before* the request that was
/// answered, on a clock that counts suspend, less a margin for drift. Loss is computed from that
/// clock whenever it is asked for, so it is seen even if no thread of the library runs.
///
/// One thread at a time, except held(), lost(), at_risk(), loss(), token(), name(), expires_at():
/// these are safe from several threads. A lease keeps what it needs of its client alive.
class [[nodiscard]] HOLDFAST_EXPORT lease {
  public:
    /// Holds nothing.
    lease() noexcept;
    lease(lease&& other) noexcept;
    /// Releases what it held before.
    lease& operator=(lease&& other) noexcept;
    /// Releases. Waits for the store's answer at most `client_options::release_wait`, then the
    /// release goes on in the background. Never throws; a failure goes to the observer.
    ~lease();

    /// The bytes of the name.
    const std::string& name() const noexcept;
    /// Zero only if nothing was ever held, or if the store cannot fence.
    fencing_token token() const noexcept;
    access how() const noexcept;
    /// Permits held; 1 for everything but semaphores.
    std::uint32_t permits() const noexcept;
    /// How often this owner holds it: more than 1 only for reentrant holds.
    std::uint32_t hold_count() const noexcept;

    /// The local deadline: until then nobody else is granted the lock, as far as the store's clock
    /// runs like ours. Renewal moves it. Costs nothing.
    time_point expires_at() const noexcept;
    /// What we may still assume: held, not lost, and the deadline ahead. A moment later it may be
    /// different, which is why the resource should check the token. Costs a clock reading.
    bool held() const noexcept;
    explicit operator bool() const noexcept { return held(); }

    /// Requested once the hold is gone or can no longer be excluded to be gone: at the latest at
    /// the local deadline. Asking again looks at the clock again. Callbacks on the token run
    /// without any mutex of the library.
    std::stop_token lost() const noexcept;
    /// Why it was lost, once it is.
    loss_reason loss() const noexcept;
    /// Requested earlier: when less than a third of the ttl remains, because renewals fail or
    /// because a fixed lease nears its end. Time to finish or to save. Also requested when lost.
    std::stop_token at_risk() const noexcept;

    /// Prolongs the hold to at least `ttl` from now (zero: its own ttl); never shortens it, never
    /// revives it. errc::lost if it is gone. One round trip.
    result<void> try_renew(duration ttl = duration::zero());
    /// As try_renew, but throws lock_error.
    void renew(duration ttl = duration::zero());

    /// Frees the hold, in the store only if it is still this one: a stale release changes nothing.
    /// errc::lost if it had been lost before, errc::not_held if there was none, and
    /// errc::outcome_unknown if the store did not answer within `client_options::release_wait`;
    /// then the release goes on in the background until it is certain or the ttl is over.
    /// One round trip, none if it is passed on inside the process.
    result<void> try_release() noexcept;
    /// As try_release, but throws lock_error.
    void release();

    /// Ends renewal and lets go of the hold without freeing it: it stays in the store until its ttl
    /// is over, also when this process ends. One round trip.
    result<void> try_orphan();
    /// As try_orphan, but throws lock_error.
    void orphan();

    /// Lets go of the hold like orphan() and gives a ticket with which `client::adopt`, in any
    /// process that uses the same store, takes it over with the same token before the ttl is over.
    /// One round trip.
    result<ticket> try_export_ticket();
    /// As try_export_ticket, but throws lock_error.
    ticket export_ticket();

  private:
    friend class core::lease_access;
    lease(std::shared_ptr<core::hold> held, std::shared_ptr<void> anchor) noexcept;
    std::shared_ptr<void> anchor_;  // keeps the client alive; destroyed after hold_
    std::shared_ptr<core::hold> hold_;
};

/// Several holds that stand and fall together: see multi_lock. One thread at a time.
class [[nodiscard]] HOLDFAST_EXPORT multi_lease {
  public:
    multi_lease();
    explicit multi_lease(std::vector<lease> leases);
    multi_lease(multi_lease&&) noexcept;
    multi_lease& operator=(multi_lease&&) noexcept;
    /// Releases all, last first.
    ~multi_lease();

    /// In the order in which they were acquired: sorted by name.
    const std::vector<lease>& leases() const noexcept;
    /// The one with this name; errc::not_held as lock_error if there is none.
    const lease& operator[](std::string_view name) const;
    /// True while all are held.
    bool held() const noexcept;
    /// Requested as soon as one of them is lost.
    std::stop_token lost() const noexcept;
    /// The earliest of the deadlines.
    time_point expires_at() const noexcept;
    /// Releases all, last first; the first failure is reported after all were tried.
    result<void> try_release() noexcept;
    void release();

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast
