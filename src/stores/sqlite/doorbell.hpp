// The waiting side of a client: it hears its own FIFO, watches the processes that its claims wait
// for, and ends their waits.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <holdfast/store.hpp>

#include "runtime/watch.hpp"
#include "stores/lease_table/gate.hpp"
#include "stores/lease_table/wait_list.hpp"
#include "stores/sqlite/bells.hpp"

namespace holdfast::sqlite {

/// Safe from several threads. Its handlers in the loop share it, so it outlives the store if it
/// must; after close() they do nothing.
class doorbell : public std::enable_shared_from_this<doorbell> {
  public:
    doorbell(std::string directory, mode_t mode, runtime::loop& loop);

    bell_directory& bells() noexcept { return bells_; }
    lease_table::wait_list& waits() noexcept { return waits_; }
    lease_table::event_gate& gate() noexcept { return gate_; }
    void start(store_events& events) noexcept { events_ = &events; }
    store_events& events() noexcept { return *events_; }

    /// From now on this claim waits, and the deaths of these clients end its wait.
    void watch(const claim_id& claim, std::span<const client_id> clients);
    /// The claim no longer waits.
    void forget(const claim_id& claim);

    /// Wakes claims of ours and of others. Best effort.
    void deliver(std::span<const lease_table::wake> wakes);

    /// Hangs up our FIFO (again). Throws database_error.
    void hang();
    /// Takes down our FIFO and closes everything that the loop knows of. The gate is closed before.
    void close() noexcept;

  private:
    struct watched {
        explicit watched(descriptor rope) : end(std::move(rope)) {}
        const descriptor end;
        std::vector<claim_id> claims{};
        std::optional<runtime::watch> death{};  ///< ends before `end` is closed
    };
    using watch_map = std::unordered_map<client_id, std::shared_ptr<watched>>;

    void listen();
    void hear();
    std::vector<claim_id> read_wakes(bool& overflow);
    /// False: the client is dead.
    bool watch_one(const claim_id& claim, const client_id& client);
    void died(const client_id& client, const std::weak_ptr<watched>& which);
    void unwatch(const claim_id& claim);
    void wake(std::span<const claim_id> claims);
    void answer(std::span<const call_id> calls);

    runtime::loop& loop_;
    store_events* events_ = nullptr;
    lease_table::event_gate gate_;
    bell_directory bells_;
    lease_table::wait_list waits_;

    std::mutex mutex_;
    bool stopped_ = false;
    int heard_ = -1;  ///< the descriptor that `reader_` reads; belongs to the bells
    std::optional<runtime::watch> reader_;
    watch_map watched_;
    std::unordered_map<claim_id, std::vector<client_id>> watches_;
};

}  // namespace holdfast::sqlite
