// A test kit for code that takes locks: an in-memory store with its own clock, which loses leases
// on purpose.
//
//     holdfast::testing::world world;
//     auto ours = world.connect(), theirs = world.connect();
//     holdfast::lease held = holdfast::mutex{ours, "job"}.acquire();
//     world.cut(ours);              // the store cannot be reached any more
//     world.advance(31s);           // nobody sleeps
//     assert(held.loss() == holdfast::loss_reason::unreachable);
//     assert(holdfast::mutex{theirs, "job"}.try_acquire());
#pragma once

#include <memory>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast::testing {

/// How time goes on in a world.
enum class time_flow : std::uint8_t {
    /// When a call would block, time jumps to whatever happens next. For tests with one thread: a
    /// wait of two seconds ends at once, two virtual seconds later.
    jumps,
    /// Only advance() moves time; a blocked call waits for another thread to do it.
    manual,
};

/// A store shared by the clients that are connected to it, and the clock of all of them. It keeps
/// the whole contract of a store (store.hpp). Safe from several threads. Must outlive nothing: the
/// clients keep what they need.
class HOLDFAST_EXPORT world {
  public:
    explicit world(time_flow flow = time_flow::jumps);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    /// A client like one in another process. With local hand-over, as in real life; turn it off
    /// with `client_options::local_handovers_max`.
    client connect(client_options options = {});

    /// Moves time on, and does everything that falls due on the way, in order: renewals, losses,
    /// ends of waits, handlers of asynchronous calls.
    void advance(duration by);
    /// Runs the handlers of asynchronous calls that are ready, without moving time.
    void settle();
    /// Since the world was made.
    duration elapsed() const;

    /// Ends the hold in the store, as an operator or a failover would, and tells its holder at once
    /// for the reason given; with `loss_reason::removed` or `taken_over`. The lease is lost.
    void lose(const lease& held, loss_reason why = loss_reason::removed);
    /// The same, but nobody tells: the holder learns it at its next renewal.
    void lose_silently(const lease& held);
    /// From now on the client cannot reach the store: every request fails with errc::unavailable.
    void cut(const client& who);
    /// Undoes cut().
    void heal(const client& who);
    /// As for a process that is stopped and continued: nothing of this client happens while time
    /// goes on by this much; then it wakes up.
    void pause(const client& who, duration how_long);

    /// What the store has of a name.
    lock_record show(std::string_view name) const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast::testing
