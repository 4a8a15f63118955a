// What `run` holds: one lease or several, seen as one.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/lease.hpp>

namespace holdfast::cli {

class hold {
  public:
    explicit hold(lease one) : leases_(std::move(one)) {}
    explicit hold(multi_lease several) : leases_(std::move(several)) {}

    bool held() const;
    time_point expires_at() const;
    /// Why the first lost one was lost; `none` while all are held.
    loss_reason loss() const;
    /// Calls `tell`, from any thread, when one is at risk or lost.
    void watch(const std::function<void()>& tell);
    result<void> release();

    struct named_token {
        std::string name;
        fencing_token token;
    };
    /// In the order in which they were acquired.
    std::vector<named_token> tokens() const;

  private:
    std::vector<const lease*> all() const;

    using watcher = std::stop_callback<std::function<void()>>;
    std::variant<lease, multi_lease> leases_;
    std::vector<std::unique_ptr<watcher>> watchers_;
};

}  // namespace holdfast::cli
