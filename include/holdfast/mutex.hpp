// One holder at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// Receives the outcome of an asynchronous acquisition: exactly once, on the client's thread for
/// callbacks, never inside the call that started it, without any mutex of the library. What it
/// throws is swallowed. If it blocks, it delays other callbacks of this client, but no renewal.
using acquired_handler = std::function<void(result<lease>)>;

/// A lock with one holder. Not reentrant: see reentrant_mutex.
///
/// A cheap, copyable factory of leases that holds nothing itself. Safe from several threads.
///
///     claim       name free          name held
///     acquire     a lease            waits
///     try_acquire a lease            errc::busy (or waits as long as it is told to)
class HOLDFAST_EXPORT mutex {
  public:
    /// `name`: 1 to 255 bytes of any value; lock_error(invalid_argument) otherwise, and
    /// lock_error(unsupported) if the store cannot do what the options ask for. No round trip.
    mutex(client from, std::string_view name, lock_options options = {});

    const std::string& name() const noexcept { return name_; }

    /// Waits for the hold. Throws lock_error: timed_out, cancelled, invalid_argument, forked,
    /// unavailable, access_denied, bad_reply, mismatch. After any of them nothing is held, or it is
    /// being cleaned up. Uncontended: one round trip; waiting costs none until it is woken.
    lease acquire(const acquire_options& how = {}) const;
    /// The same without exceptions; does not wait unless `how.wait` says so.
    result<lease> try_acquire(const acquire_options& how = {}) const;
    /// The same without a thread: any number may be outstanding. Waits like acquire.
    void async_acquire(const acquire_options& how, acquired_handler done) const;

  private:
    client client_;
    std::string name_;
    lock_options options_;
};

}  // namespace holdfast
