// Several names, all or none.
#pragma once

#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// Takes several mutexes in the order of their names, so that no two multi_locks wait for each
/// other in a circle, and gives all of them or none. What was taken is renewed while it waits for
/// the rest, and released if the rest cannot be had. The same name twice counts once.
/// Safe from several threads.
class HOLDFAST_EXPORT multi_lock {
  public:
    /// 1 to 100 names, each as for mutex.
    multi_lock(client from, std::vector<std::string> names, lock_options options = {});

    /// Sorted, without repetitions.
    const std::vector<std::string>& names() const noexcept { return names_; }

    /// As mutex::acquire; `how.wait` counts for all together. One round trip per name.
    multi_lease acquire(const acquire_options& how = {}) const;
    result<multi_lease> try_acquire(const acquire_options& how = {}) const;

  private:
    result<multi_lease> take_all(const acquire_options& how, duration wait) const;
    client client_;
    std::vector<std::string> names_;
    lock_options options_;
};

}  // namespace holdfast
