// One writer or many readers.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// Exclusive (writer) and shared (reader) holds on one name. Every reader has its own expiry, so a
/// dead one ends although others live. A waiting writer goes before readers that come later; with
/// order::barging readers go before the waiting writers of other clients, which may starve; claims
/// of one client are always served in the order of their arrival.
///
///     claim           free    shared holds       exclusive hold
///     acquire_shared  a lease a lease, unless a  waits
///                             writer waits
///     acquire         a lease waits              waits
///     downgrade       -       -                  becomes shared, atomically
///     upgrade         -       refused: errc::would_deadlock
///
/// An upgrade is refused because two readers that both wait to write wait for ever: `acquire` by an
/// owner (default: the calling thread) that already holds the name shared through this client fails
/// with errc::would_deadlock. If you moved that lease to another thread, name owners yourself.
/// Safe from several threads.
class HOLDFAST_EXPORT shared_mutex {
  public:
    /// As mutex; also errc::unsupported if the store has no shared holds.
    shared_mutex(client from, std::string_view name, lock_options options = {});

    const std::string& name() const noexcept { return name_; }

    /// As mutex::acquire, and errc::would_deadlock.
    lease acquire(const acquire_options& how = {}) const;
    result<lease> try_acquire(const acquire_options& how = {}) const;
    void async_acquire(const acquire_options& how, acquired_handler done) const;
    lease acquire_shared(const acquire_options& how = {}) const;
    result<lease> try_acquire_shared(const acquire_options& how = {}) const;
    void async_acquire_shared(const acquire_options& how, acquired_handler done) const;

    /// Makes an exclusive lease of this name shared, without a moment in which another writer could
    /// come in, and lets waiting readers in. errc::lost if it is gone, errc::invalid_argument if it
    /// is not an exclusive lease of this name. On failure the lease is as it was. One round trip.
    result<void> try_downgrade(lease& held) const;
    void downgrade(lease& held) const;

  private:
    client client_;
    std::string name_;
    lock_options options_;
};

}  // namespace holdfast
