// The store itself: the rules of a lease table, watched at every step. Its clock is the world's,
// plus leaps.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "simulation/environment.hpp"
#include "stores/lease_table/lease_table.hpp"

namespace holdfast::simulation {

class auditor;

class server final : private lease_table::process_table {
  public:
    using waker = std::function<void(const lease_table::wake&)>;

    server(environment& world, auditor& audit) : world_(world), audit_(audit) {}

    /// Who brings a hint to the client that waits.
    void on_wake(waker wake) { wake_ = std::move(wake); }
    /// Whether it sees processes die.
    void sees_deaths() { sees_deaths_ = true; }
    void born(const client_id& client) { living_.insert(client); }
    void died(const client_id& client);

    result<acquire_reply> acquire(const client_id& from, const claim& request);
    std::vector<renewal_reply> renew(const client_id& from,
                                     const std::vector<renewal_request>& requests);
    std::vector<release_reply> release(const client_id& from, const std::vector<hold_ref>& holds);
    renewal_reply downgrade(const client_id& from, const renewal_request& request);

    bool up() const noexcept { return up_; }
    void go_down() { up_ = false; }
    void come_back() { up_ = true; }
    /// Everything is gone. With `floor`, new tokens are above all that were granted before.
    void forget_everything(bool floor);
    /// Ends the holds and waits of a client that may still live. Returns the claims that ended.
    std::vector<hold_ref> end_session(const client_id& client);
    /// Breaks a hold of the name, if there is one.
    bool evict(const std::string& name);
    void leap(duration by);

    time_point clock() const noexcept { return world_.now() + leapt_; }
    /// When the hold of this claim ends, on the world's clock, unless renewed; none if not held.
    std::optional<time_point> held_until(const std::string& name, const claim_id& id) const;
    /// Since when nobody holds the name; the end of time while somebody does.
    time_point free_since(const std::string& name) const;
    /// Holds and waits that are there now, as lines of text.
    std::vector<std::string> left() const;

    std::uint64_t grants = 0;
    std::uint64_t operations = 0;

  private:
    struct entry {
        lease_table::lock_rows rows;
        fencing_token newest{};
        time_point free_since{};  // valid while there is no hold
        bool freed_by_time = false;
    };
    bool alive(const client_id& client) const override { return living_.contains(client); }
    entry& entry_of(const std::string& name);
    lease_table::moment moment_for(const client_id& client) const;
    void settle(const std::string& name, entry& of,
                const std::vector<lease_table::hold_row>& before, const claim_id& ended,
                const lease_table::consequences& then);
    void watch(const claim_id& waiting, const client_id& client,
               const lease_table::consequences& then);
    bool live(const lease_table::hold_row& row) const;
    renewal_reply prolong(const client_id& from, const renewal_request& request, bool downgrade);
    void excuse_all();
    void tell(const char* verb, const claim_id& id, const std::string& answer);

    environment& world_;
    auditor& audit_;
    waker wake_;
    bool up_ = true;
    bool sees_deaths_ = false;
    duration leapt_{};
    fencing_token floor_{};
    std::map<std::string, entry> names_;
    std::set<client_id> living_;
    std::vector<std::pair<client_id, lease_table::wake>> death_watches_;
};

}  // namespace holdfast::simulation
