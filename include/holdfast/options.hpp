// What a caller can choose. Every option has its default beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/types.hpp>

namespace holdfast {

class observer;

/// For whom a reentrant hold is counted, and who is meant by "the caller" when a shared mutex looks
/// for a self-deadlock. By default the calling thread; give a number of your own for tasks and
/// coroutines that move between threads.
class owner_id {
  public:
    constexpr owner_id() noexcept = default;
    constexpr explicit owner_id(std::uint64_t value) noexcept : value_(value), explicit_(true) {}
    /// A number that no other living or dead thread of this process has. Never reused.
    HOLDFAST_EXPORT static owner_id this_thread() noexcept;
    /// Nobody in particular: no self-deadlock check.
    static constexpr owner_id nobody() noexcept { return owner_id{0}; }
    constexpr bool chosen() const noexcept { return explicit_; }
    constexpr std::uint64_t value() const noexcept { return value_; }
    friend constexpr bool operator==(owner_id, owner_id) noexcept = default;

  private:
    std::uint64_t value_ = 0;
    bool explicit_ = false;
};

/// Options of one acquisition.
struct acquire_options {
    /// How long to wait. Zero: one attempt. `forever`: until granted or cancelled. Negative is an
    /// error. Not given: `acquire` waits for ever, `try_acquire` does not wait.
    std::optional<duration> wait = {};
    /// How long the store keeps the hold without renewal; zero: the client's default. The store's
    /// limits are in its capabilities and are checked before any traffic.
    duration ttl = duration::zero();
    renewal renew = renewal::automatic;
    /// The longest hold in all. Then renewal ends and the lease is lost, however alive we are.
    duration hold_max = forever;
    /// Cancels the wait, not the hold.
    std::stop_token stop = {};
    /// Shown by `holdfast list` beside host and pid. Cut at 200 bytes.
    std::string label = {};
    /// See owner_id.
    owner_id owner = {};
};

/// Options of a kind, fixed when it is made.
struct lock_options {
    order next = order::standard;
};

/// Options of a client.
struct client_options {
    /// For every acquisition that names none. Renewal happens at a third of it.
    duration ttl = std::chrono::seconds{30};
    /// How long a release waits for the store's answer before it goes on in the background.
    duration release_wait = std::chrono::seconds{2};
    /// How often a process may pass a hold on to its own next waiter before the waiters of others
    /// get their turn. Zero: never.
    std::uint32_t local_handovers_max = 15;
    /// Who we are, for people: appears as `host/pid/label`. Cut at 200 bytes.
    std::string label = {};
    /// Sees everything that happens. Called without any of our mutexes held.
    std::shared_ptr<observer> watch = {};
};

}  // namespace holdfast
