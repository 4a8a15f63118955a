// The rules of a lease table: who is granted, who waits, who is called next. Pure functions on the
// rows of one name; memory and SQLite keep the rows, each in its way, and apply a function within
// one atomic step. This is the executable form of the store contract.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspect.hpp>
#include <holdfast/result.hpp>
#include <holdfast/store.hpp>
#include <holdfast/types.hpp>

namespace holdfast::lease_table {

/// One hold. It counts until `expires`, or until its client dies if it is `bound`.
struct hold_row {
    claim_id claim{};
    client_id client{};
    bool bound = true;
    access how = access::exclusive;
    std::uint32_t permits = 1;
    fencing_token token{};
    std::uint32_t tokens = 1;
    time_point granted{};
    time_point expires{};
    std::string owner{};
    friend bool operator==(const hold_row&, const hold_row&) = default;
};

/// One waiting claim. It keeps its place until `expires`; asking again moves that.
struct waiter_row {
    std::uint64_t ticket = 0;
    claim_id claim{};
    client_id client{};
    access how = access::exclusive;
    order next = order::standard;
    std::uint32_t permits = 1;
    time_point since{};
    time_point expires{};
    /// When it was woken because its turn had come; empty before, and again once it has asked.
    std::optional<time_point> called{};
    std::string owner{};
    friend bool operator==(const waiter_row&, const waiter_row&) = default;
};

/// All that is stored of one name. `waiters` is in the order of their tickets.
struct lock_rows {
    kind what = kind::mutex;
    std::uint32_t capacity = 1;
    fencing_token token{};  ///< the newest token ever granted; stays after release
    std::vector<hold_row> holds{};
    std::vector<waiter_row> waiters{};
};

/// Tells whether a client's process still lives. Only asked about claims that are in the way.
class process_table {
  public:
    virtual bool alive(const client_id& client) const = 0;

  protected:
    ~process_table() = default;
};

/// The circumstances of a step, by the store.
struct moment {
    time_point now{};
    client_id self{};
    const process_table* processes = nullptr;  ///< none: nobody dies
    fencing_token floor{};                     ///< every new token is above this
};

/// A waiter to be woken after the step is durable.
struct wake {
    client_id client{};
    claim_id claim{};
};

/// What a step gives besides its answer.
struct consequences {
    std::vector<wake> wakes{};
    /// After a refusal: the clients whose death the waiter must notice to move up.
    std::vector<client_id> watch{};
};

/// How long a waiter whose turn has come may take before others may pass it.
inline constexpr duration patience = std::chrono::seconds{1};
/// A waiter must ask again at least this often (capabilities::poll_max).
inline constexpr duration poll_max = std::chrono::seconds{5};
/// How long a waiter keeps its place without asking.
inline constexpr duration waiter_ttl = 3 * poll_max;

/// What every store that follows these rules can do, if it has one clock with its clients and
/// notices the death of their processes.
capabilities facts();

result<acquire_reply> acquire(lock_rows& rows, const claim& request, const moment& at,
                              consequences& then);
renewal_reply renew(lock_rows& rows, const renewal_request& request, const moment& at,
                    consequences& then);
release_reply release(lock_rows& rows, const claim_id& id, const moment& at, consequences& then);
renewal_reply downgrade(lock_rows& rows, const renewal_request& request, const moment& at,
                        consequences& then);
/// Empty if no live hold carries the token.
std::optional<holder_record> evict(lock_rows& rows, fencing_token token, const moment& at,
                                   consequences& then);
/// Drops everything of a client whose process is known to be dead or that has said good-bye.
void forget_client(lock_rows& rows, const client_id& client, const moment& at, consequences& then);

/// For inspection. Expired and dead holds are left out.
lock_record describe(const std::string& name, const lock_rows& rows, const moment& at);

}  // namespace holdfast::lease_table
