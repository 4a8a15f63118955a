// The waiting claims of one client of a lease table, and the wake-ups that reached them. A wake-up
// between the refusal and the wait is not lost: the refusal carries a cursor.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <holdfast/store.hpp>

namespace holdfast::lease_table {

/// Safe from several threads. Calls nobody: it returns the calls that are to be answered.
class wait_list {
  public:
    /// Before the claim is put before the store. Returns the cursor for its refusal.
    std::uint64_t open(const claim_id& claim);
    /// The claim no longer waits.
    void close(const claim_id& claim);
    /// Something changed for this claim: the call to answer, if a wait is outstanding.
    std::optional<call_id> wake(const claim_id& claim);
    /// Something may have changed for every claim.
    std::vector<call_id> wake_all();
    /// Starts a wait. False if there was a wake-up since the cursor: answer at once.
    bool start(call_id call, const claim_id& claim, std::uint64_t cursor);
    void end(call_id call);
    bool contains(const claim_id& claim) const;

  private:
    struct entry {
        std::uint64_t wakes = 0;
        std::optional<call_id> call{};
    };
    mutable std::mutex mutex_;
    std::unordered_map<claim_id, entry> entries_;
    std::unordered_map<call_id, claim_id> calls_;
};

}  // namespace holdfast::lease_table
