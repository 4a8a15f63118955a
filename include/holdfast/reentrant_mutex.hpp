// One holder at a time, who may take it again.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// As mutex, but counted per owner: the calling thread, or `acquire_options::owner` for tasks that
/// move between threads. An owner that holds the name through this client gets another lease of the
/// same hold, with the same token and deadline, without a round trip; the last of them to be
/// released frees it. Another owner waits. If the hold was lost, nested acquisition fails with
/// errc::lost until all its leases are released, so that lost work is not continued unknowingly.
///
/// In the store it is the same lock as a mutex of that name. Safe from several threads.
class HOLDFAST_EXPORT reentrant_mutex {
  public:
    /// As mutex.
    reentrant_mutex(client from, std::string_view name, lock_options options = {});

    const std::string& name() const noexcept { return name_; }

    /// As mutex::acquire, and errc::lost. The options of a nested call other than `owner` have no
    /// effect.
    lease acquire(const acquire_options& how = {}) const;
    result<lease> try_acquire(const acquire_options& how = {}) const;

    /// How often `owner` (default: the calling thread) holds it through this client. No round trip.
    std::uint32_t hold_count(owner_id owner = {}) const;
    /// hold_count() > 0 and not lost. No round trip.
    bool held_by(owner_id owner = {}) const;

  private:
    client client_;
    std::string name_;
    lock_options options_;
};

}  // namespace holdfast
