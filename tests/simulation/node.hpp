// A client: the real engine, on a clock of its own.
#pragma once

#include <memory>
#include <vector>

#include "core/engine.hpp"
#include "simulation/environment.hpp"
#include "simulation/random.hpp"

namespace holdfast::simulation {

class auditor;
class link;
class server;

/// A client's CLOCK_BOOTTIME: another start and another rate than the store's, and it may leap
/// forward, but never back.
class local_clock {
  public:
    local_clock() = default;
    /// `ppm`: how much faster than the store's clock; negative: slower.
    local_clock(duration offset, std::int64_t ppm) : offset_(offset), ppm_(ppm) {}
    time_point at(time_point real) const noexcept {
        const auto since = real.time_since_epoch().count();
        return real + offset_ +
               duration{since / 1'000'000 * ppm_ + since % 1'000'000 * ppm_ / 1'000'000};
    }
    /// The first moment at which it shows this time or a later one.
    time_point when(time_point local) const noexcept;
    void leap(duration by) noexcept { offset_ += by; }

  private:
    duration offset_{};
    std::int64_t ppm_ = 0;
};

/// Where a client is, and everything that happens to it from outside.
class node {
  public:
    node(environment& world, server& store, auditor& audit, unsigned index);
    node(const node&) = delete;
    node& operator=(const node&) = delete;
    ~node();

    /// Starts a client with a new identity.
    void boot(const client_id& id, const local_clock& clock, const capabilities& caps,
              core::settings how);
    /// It vanishes: nothing is released, nothing is said.
    void crash();
    void pause() { paused_ = true; }
    /// Everything that came meanwhile happens now, the timers before or after it.
    void resume(bool timers_first);
    void leap(duration by);

    /// Something happens in this client: now, or when it goes on.
    void run(deed what);
    /// Its timers are due.
    void alarm();

    unsigned index() const noexcept { return index_; }
    /// Rises with every start: what belongs to an earlier life does not reach this one.
    std::uint64_t life() const noexcept { return life_; }
    bool alive() const noexcept { return engine_ != nullptr; }
    bool paused() const noexcept { return paused_; }
    const client_id& id() const noexcept { return id_; }
    const local_clock& clock() const noexcept { return clock_; }
    time_point local_now() const noexcept { return clock_.at(world_.now()); }
    core::engine& engine() noexcept { return *engine_; }
    link& store() noexcept { return *link_; }

    /// Until when something was wrong that may keep it from renewing.
    time_point trouble{};
    /// Since when it runs without interruption.
    time_point running_since{};

  private:
    class virtual_host;
    void within(const deed& what);

    environment& world_;
    server& server_;
    auditor& audit_;
    unsigned index_;
    std::uint64_t life_ = 0;
    bool paused_ = false;
    client_id id_{};
    local_clock clock_;
    link* link_ = nullptr;  // owned by the engine
    std::shared_ptr<virtual_host> host_;
    std::unique_ptr<core::engine> engine_;
    std::vector<deed> inbox_;
};

}  // namespace holdfast::simulation
