// What the engine decided to do, kept until its mutex is released.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine.hpp"

namespace holdfast::core {

/// An acquisition, from the call to its end.
struct op final : timed, std::enable_shared_from_this<op> {
    void fall_due(engine& in, actions& out) override { in.op_due(shared_from_this(), out); }

    enum class state : std::uint8_t {
        queued,       ///< behind others of this process
        asking,       ///< a call to the store is in flight
        waiting,      ///< refused; the store will say when to ask again
        backing_off,  ///< the store failed; asks again after a while
        finished,
    };
    op_id id = 0;
    terms asked;
    std::shared_ptr<claim> wanted;      ///< not changed any more once it was put before the store
    std::shared_ptr<const claim> what;  ///< the same once it was put before the store; else none
    acquire_done then;
    lane* where = nullptr;
    lane::op_list* list = nullptr;  ///< of the lane, until it has ended
    lane::op_list::iterator place{};
    state status = state::queued;
    time_point started{};
    call_id current = 0;  ///< the call in flight, or the wait
    std::uint32_t failures = 0;
    bool told_waiting = false;
    bool succeeded = false;
    bool maybe_there = false;  ///< the store may have the claim, or a place in its queue
    std::optional<holder_info> holder{};
    std::optional<failure> last_failure{};
};

/// A request to the store that has not been answered.
struct call final : timed {
    void fall_due(engine& in, actions& out) override { in.call_due(*this, out); }

    call_id id = 0;
    time_point asked{};  ///< read before the request left
    std::shared_ptr<op> acquiring{};
    std::shared_ptr<const claim> what{};  ///< that was asked for; none for a wait
    std::vector<hold_ptr> renewing{};
    std::vector<std::shared_ptr<release_job>> releasing{};
    single_answered single{};
};

/// A hold or queued claim that is to vanish from the store, until that is certain.
struct release_job final : timed, std::enable_shared_from_this<release_job> {
    void fall_due(engine& in, actions&) override { in.start_release(shared_from_this()); }

    std::uint64_t id = 0;
    std::shared_ptr<const claim> what;
    hold_ptr held{};         ///< none when a claim is cleaned up
    lane* blocks = nullptr;  ///< the lane whose next acquisition waits for this
    done then{};
    time_point until{};  ///< by then the store has ended it by itself
    std::uint32_t failures = 0;
};

struct do_ask {
    call_id id;
    std::shared_ptr<const claim> what;
};
struct do_wait {
    call_id id;
    std::shared_ptr<const claim> what;
    std::uint64_t cursor;
};
struct do_end_wait {
    call_id id;
};
struct do_renew {
    call_id id;
    std::vector<renewal_request> what;
};
struct do_downgrade {
    call_id id;
    renewal_request what;
};
struct do_release {
    call_id id;
    std::vector<hold_ref> what;
};
struct do_finish {
    acquire_done then;
    result<hold_ptr> outcome;
};
struct do_done {
    done then;
    result<void> outcome;
};
struct do_tell_risk {
    hold_ptr held;
};
struct do_tell_lost {
    hold_ptr held;
};
struct do_emit {
    struct body {
        event what;
        std::string lock;
        std::optional<failure> why;
        std::optional<holder_info> holder;
    };
    std::shared_ptr<body> it;
};

inline void hold::fall_due(engine& in, actions& out) {
    in.hold_due(*this, out);
}

class actions {
  public:
    using action = std::variant<do_ask, do_wait, do_end_wait, do_renew, do_downgrade, do_release,
                                do_finish, do_done, do_tell_risk, do_tell_lost, do_emit>;
    template <class Action>
    void add(Action what) {
        if (!first_) {
            first_.emplace(std::move(what));
        } else {
            others_.emplace_back(std::move(what));
        }
    }
    /// Gives them to `act`, in the order in which they were added.
    template <class Act>
    void each(Act&& act) {
        if (first_) act(*first_);
        for (auto& other : others_) act(other);
    }
    time_point wake_at = time_point::max();  ///< if earlier than what is armed
    std::function<void()> idle{};

  private:
    std::optional<action> first_{};  // most steps decide one thing: no allocation then
    std::vector<action> others_{};
};

}  // namespace holdfast::core
