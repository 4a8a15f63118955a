// Two clients, one name, one acquisition and release each, and at most two faults: every order in
// which messages arrive, timers fire and faults strike is run. A run is a list of choices; the next
// run follows the last one up to its last choice that has an alternative left.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulation/audit.hpp"
#include "simulation/environment.hpp"
#include "simulation/node.hpp"
#include "simulation/server.hpp"

namespace holdfast::simulation {

/// What one of the clients does.
struct part {
    access how = access::exclusive;
    bool try_only = false;
    bool may_cancel = false;
};

struct small_world_plan {
    const char* name = "";
    part parts[2];
    unsigned faults_max = 2;
    bool knows_processes = false;
};

/// Which way a run goes. Depth first through the tree of all choices.
class choices {
  public:
    /// 0 to count - 1.
    std::size_t choose(std::size_t count);
    /// Makes the next run go another way; false when there is none.
    bool next();
    std::string text() const;

  private:
    struct branch {
        std::size_t taken = 0;
        std::size_t count = 0;
    };
    std::vector<branch> path_;
    std::size_t depth_ = 0;
};

class small_world final : public environment {
  public:
    small_world(const small_world_plan& of, choices& way);
    ~small_world() override;
    std::optional<violation> run();
    /// The run broke off, because all that could follow has been run in another order.
    bool pruned() const noexcept { return pruned_; }

    time_point now() const noexcept override { return now_; }
    std::uint64_t random_for(const node& who) override;
    fate fate_of_call(node&) override { return fate::carried; }
    void to_server(node& from, deed arrive) override;
    void to_client(node& to, message what, deed arrive) override;
    void set_alarm(node& of, time_point when) override;
    bool bounces() const override { return false; }

  private:
    /// Where something happens. What happens in two of the first three places can change places.
    enum class place : std::uint8_t { first_client, second_client, store, everywhere };
    struct pending {
        std::uint64_t id = 0;
        place where{};
        node* at = nullptr;
        std::uint64_t life = 0;
        deed arrive;
    };
    /// One way to go on. The same id is the same thing, also after something else has happened.
    struct option {
        enum class sort : std::uint8_t { deliver, wait, pause, crash };
        sort what{};
        place where{};
        std::uint64_t id = 0;
        std::size_t index = 0;
    };
    struct client {
        std::unique_ptr<node> at;
        core::op_id op = 0;
        core::hold_ptr held;
        unsigned ends = 0;
        time_point alarm = time_point::max();
        time_point paused_until = time_point::max();
    };

    void start(client& who, const part& what);
    void acquire(client& who, const part& what);
    void release(client& who);
    void user_step(client& who, deed what);
    void send(place to, node& at, deed arrive, bool may_repeat);
    std::vector<option> options() const;
    bool choose();
    void take(const option& way);
    void deliver(std::size_t index);
    void strike();
    time_point next_moment() const;
    void pass_time();
    bool rest();
    void finish();
    client& owner(const node& of) { return clients_[of.index()]; }

    small_world_plan plan_;
    choices& way_;
    time_point now_{std::chrono::seconds{1}};
    std::uint64_t randoms_[2] = {};
    unsigned faults_left_;
    unsigned steps_ = 0;
    auditor audit_;
    server server_;
    client clients_[2];
    std::vector<pending> pending_;
    place here_ = place::everywhere;  // where the present deed happens
    std::uint64_t sent_[4] = {};      // from each place
    std::vector<option> asleep_;      // leads only to what has been run in another order
    bool pruned_ = false;
};

}  // namespace holdfast::simulation
