// At most N at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// `capacity` permits on one name; an acquisition takes 1 to capacity of them, all or none, as one
/// lease with one expiry. Everybody must agree on the capacity: a claim with another one fails with
/// errc::mismatch while there are holds; when there are none, the new capacity counts.
/// Large claims are not overtaken by later small ones, unless order::barging is asked for.
/// Safe from several threads.
class HOLDFAST_EXPORT semaphore {
  public:
    /// `capacity`: 1 to 1,000,000. Else as mutex.
    semaphore(client from, std::string_view name, std::uint32_t capacity,
              lock_options options = {});

    const std::string& name() const noexcept { return name_; }
    std::uint32_t capacity() const noexcept { return capacity_; }

    /// As mutex::acquire; errc::invalid_argument if permits is 0 or above the capacity
    /// or capabilities::permits_max.
    lease acquire(std::uint32_t permits = 1, const acquire_options& how = {}) const;
    result<lease> try_acquire(std::uint32_t permits = 1, const acquire_options& how = {}) const;
    void async_acquire(std::uint32_t permits, const acquire_options& how,
                       acquired_handler done) const;

  private:
    std::optional<failure> wrong_count(std::uint32_t permits) const;
    client client_;
    std::string name_;
    std::uint32_t capacity_;
    lock_options options_;
};

}  // namespace holdfast
