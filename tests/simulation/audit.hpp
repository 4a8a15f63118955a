// The checkers. They see everything: the store, every client's clock, and what every client
// believes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/engine.hpp"
#include "simulation/environment.hpp"

namespace holdfast::simulation {

class server;

enum class checker : std::uint8_t {
    capacity,       ///< the store never holds a name beyond its capacity
    overlap,        ///< clients never believe in more than that, each by its own clock
    belief,         ///< who believes in a hold has it in the store, at least as long
    token,          ///< tokens rise with every grant, and no two grants share one
    fencing,        ///< no update of the fenced resource is lost
    exact_release,  ///< nobody ends another one's hold
    renewal,        ///< in time, never shortening, never after the release
    revival,        ///< what has ended never holds again
    told,           ///< a loss is told no later than the local deadline
    truth,          ///< a loss has the reason that it says
    outcome,        ///< an acquisition or release ends with what really happened
    once,           ///< and exactly once
    liveness,       ///< and in time
    wake,           ///< a free lock does not keep waiters waiting
    withdrawal,     ///< what was given up is not asked for again
    leak,           ///< nothing is left behind
    count,
};
const char* to_string(checker which) noexcept;

struct violation {
    checker by{};
    std::string text;
    time_point at{};
};

/// One hold, from when its client was told that it has it.
struct belief {
    node* who = nullptr;
    std::string name;
    core::hold_ptr held;
    bool shared = false;  ///< weaker than the hold says, once a downgrade was asked for
    bool ended = false;   ///< was seen not to hold
    bool loss_seen = false;
    time_point begun{};
    time_point deadline{};  ///< local, as last seen
    time_point ends{};      ///< the same on the world's clock
};

class auditor {
  public:
    explicit auditor(const environment& world) : world_(world) {}
    void watch(const server& store) { store_ = &store; }
    /// From here on no fault happens, and none of the earlier ones is felt.
    void calm(time_point since, duration prompt);

    void fail(checker by, std::string text);
    const std::optional<violation>& found() const noexcept { return found_; }

    /// A client was told that it has this hold; `fresh`: by a grant, so that the token is new.
    void acquired(node& who, const core::hold_ptr& held, bool fresh);
    /// The client no longer claims to have it: released, let go, or given away.
    void dropped(const core::hold_ptr& held);
    void downgrading(const core::hold_ptr& held);
    /// The client is gone, and its beliefs with it.
    void forget(const node& who);
    /// The store did what ends this claim against the rules: allowed to overlap, and counted.
    void excuse(const claim_id& id);
    void tokens_restart();
    void clock_leapt(const node& who);
    /// `by_time`: the lock became free without anybody who could have woken the waiter.
    void granted_after_wait(const std::string& name, time_point could_have, bool by_time);

    /// Looks at everything that a client, or that anybody about a name, believes in.
    void look(const node& who);
    void look(const std::string& name);

    std::uint64_t losses = 0;
    std::uint64_t overlaps_allowed = 0;

  private:
    void look(belief& at, bool own);
    void look_at_loss(belief& at);
    bool believed(belief& at) const;
    void check_token(const belief& fresh);
    void check_overlap(belief& fresh);
    bool excused(const belief& at) const;
    static std::uint64_t weight(const belief& at);

    const environment& world_;
    const server* store_ = nullptr;
    std::optional<violation> found_;
    std::vector<belief> beliefs_;
    std::vector<core::hold_ptr> kept_;
    std::unordered_set<claim_id> excused_;
    std::map<std::string, std::set<std::uint64_t>> tokens_;
    std::map<std::string, std::uint64_t> newest_alone_;
    time_point calm_since_ = time_point::max();
    duration prompt_{};
};

}  // namespace holdfast::simulation
