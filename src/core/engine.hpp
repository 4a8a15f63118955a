// The core: acquiring, waiting, renewing, releasing, cleaning up and telling losses, once for every
// store and kind. It decides; stores act. No sockets, no threads, no clock of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>
#include <holdfast/store.hpp>

#include "core/hold.hpp"
#include "core/host.hpp"
#include "core/timer_queue.hpp"
#include "support/recycling.hpp"

namespace holdfast::core {

using op_id = std::uint64_t;
using hold_ptr = std::shared_ptr<hold>;

/// How an acquisition ends: called once, without the engine's mutex, in whatever thread ends it,
/// possibly before the call that started it returns. A probe ends with no hold.
using acquire_done = std::function<void(result<hold_ptr>)>;
using done = std::function<void(result<void>)>;

/// One acquisition, checked by the kind that asks for it.
/// How an acquisition is to go, other than the store needs to know.
struct terms {
    time_point give_up = time_point::max();
    bool try_only = false;  ///< one attempt; give_up does not count
    duration hold_max = forever;
    renewal renew = renewal::automatic;
    owner_id owner{};
    bool reentrant = false;
};

struct request : terms {
    claim what;  ///< id, tokens and waits are filled in by the engine
};

struct settings {
    std::uint32_t local_handovers_max = 15;
    std::shared_ptr<observer> watch{};
};

/// Inside the engine: the answer to a renewal of one hold, with the time before the request.
using single_answered =
    std::function<void(time_point asked, const result<renewal_reply>& answer, actions& out)>;

struct do_ask;
struct do_wait;
struct do_end_wait;
struct do_renew;
struct do_downgrade;
struct do_release;
struct do_tell_risk;
struct do_tell_lost;
struct do_emit;
struct do_done;
struct do_finish;
struct op;
struct call;
struct release_job;

/// What is going on in this process about one name: the live holds, and the queue of acquisitions
/// of which only the first one talks to the store.
struct lane {
    using op_list = std::list<std::shared_ptr<op>>;
    const std::string* name = nullptr;
    std::vector<hold*> holds;
    std::vector<hold*> reentrant;  ///< reentrant holds with leases on them, lost ones included
    op_list queue;
    op_list probes;          ///< each asks for itself, and nobody waits for it
    unsigned releasing = 0;  ///< exclusive holds that are being given back; an adopted one may join
};

/// Safe from several threads. Every call that reaches the outside (store, completions, stop tokens,
/// observer) is made after the engine's mutex is released.
class engine final : public store_events {
  public:
    engine(std::unique_ptr<store> to, std::shared_ptr<host> in, settings how);
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    const store& target() const noexcept { return *store_; }
    store& target() noexcept { return *store_; }
    time_point now() const noexcept { return host_->now(); }

    op_id acquire(request what, acquire_done then);
    /// Ends the acquisition with errc::cancelled; nothing if it has ended.
    void cancel(op_id what);

    /// Gives back one lease on the hold. Ends when it is certain or its ttl is over.
    void release(const hold_ptr& held, done then);
    void renew(const hold_ptr& held, duration ttl, done then);
    /// Lets go without freeing: no renewal, no release.
    void detach(const hold_ptr& held, done then);
    void downgrade(const hold_ptr& held, done then);
    /// Takes over a detached hold. `what.what` has name, ttl and owner.
    void adopt(request what, const claim_id& id, fencing_token token, acquire_done then);
    /// Lets go of a hold without a word to the store or anybody. For when nothing else is possible.
    void abandon(const hold_ptr& held) noexcept;
    /// Looks at the clock: a hold whose deadline has passed is lost from now on.
    void check(hold& held);

    /// How often this owner holds the name, by reentrant holds.
    std::uint32_t hold_count(const std::string& name, owner_id owner);

    /// Everything that is due. Called by the host.
    void run_due();

    /// No more acquisitions: cancels those under way, tells and releases all holds.
    void close();
    /// Acquisitions, releases and clean-ups that are not certain yet.
    std::size_t unfinished();
    /// Whether close() was called.
    bool closed() const;
    /// Everything remembered: names, acquisitions, releases, and requests without an answer. Zero
    /// when nothing is held or going on, so that tests see whether anything is left behind.
    std::size_t tracked() const;
    /// Called whenever unfinished() becomes zero.
    void on_idle(std::function<void()> idle);
    /// No event leaves or enters any more.
    void stop() noexcept;

    // store_events
    void acquired(call_id id, result<acquire_reply> answer) override;
    void changed(call_id id, result<void> answer) override;
    void renewed(call_id id, result<std::vector<renewal_reply>> answer) override;
    void released(call_id id, result<std::vector<release_reply>> answer) override;
    void downgraded(call_id id, result<renewal_reply> answer) override;
    void gone(const hold_ref& which, loss_reason why) override;

  private:
    friend struct op;
    friend struct call;
    friend struct release_job;
    friend class hold;
    template <class Step>
    bool step(Step&& decide);
    void perform(actions& todo);
    void act(do_ask& what);
    void act(do_wait& what);
    void act(do_end_wait& what);
    void act(do_renew& what);
    void act(do_downgrade& what);
    void act(do_release& what);
    void act(do_tell_risk& what);
    void act(do_tell_lost& what);
    void act(do_emit& what);
    void act(do_done& what);
    void act(do_finish& what);
    void emit(actions& out, event what, const std::string& lock, std::optional<failure> why = {},
              std::optional<holder_info> holder = {});
    call_id start_call(const std::shared_ptr<call>& started);
    std::shared_ptr<call> take_call(call_id id);
    duration call_limit(duration ttl) const;
    duration backoff(std::uint32_t failures, duration longest);

    // engine_acquire.cpp
    void enqueue(const std::shared_ptr<op>& o, actions& out);
    static void leave_list(op& o) noexcept;
    void forget(op& o) noexcept;
    void keep_due() noexcept;
    bool answered_locally(const std::shared_ptr<op>& o, lane& l, actions& out);
    void advance(lane& l, actions& out);
    void refuse_tries(lane& l, bool including_first, actions& out);
    void ask(const std::shared_ptr<op>& o, actions& out);
    void answer_granted(const std::shared_ptr<op>& o, time_point asked, const granted& yes,
                        actions& out);
    void answer_refused(const std::shared_ptr<op>& o, const refused& no, actions& out);
    void answer_failed(const std::shared_ptr<op>& o, failure why, actions& out);
    void finish(const std::shared_ptr<op>& o, result<hold_ptr> outcome, actions& out);
    void conclude(const std::shared_ptr<op>& o, result<hold_ptr> outcome, actions& out);
    void give_up(const std::shared_ptr<op>& o, failure why, actions& out);
    void op_due(const std::shared_ptr<op>& o, actions& out);
    failure not_in_time(const op& o) const;
    hold_ptr make_hold(const op& o, time_point asked, fencing_token token, duration remaining);
    void schedule_op(op& o, time_point at);
    void tell_waiting(op& o, actions& out);
    void end_wait(op& o, actions& out);
    void outlive(call_id id);

    // engine_renew.cpp
    void schedule_hold(hold& h);
    void hold_due(hold& h, actions& out);
    void send_renewals(actions& out);
    void renewal_answered(hold& h, time_point asked, const renewal_reply& reply, bool current,
                          actions& out);
    void renewal_failed(hold& h, const failure& why, actions& out);
    static loss_reason overdue(const hold& h);
    void prolong(hold& h, time_point asked, duration remaining);
    void lose(hold& h, loss_reason why, actions& out);
    void lose_if_over(hold& h, actions& out);
    void tell_risk(hold& h, actions& out);
    duration renewal_ttl(const hold& h, time_point now) const;
    void ask_for(const hold_ptr& held, renewal_request what, bool as_downgrade,
                 std::function<void(hold&, actions&)> settle, done then);
    void adopt_answered(op& o, const renewal_request& attach, time_point asked,
                        const result<renewal_reply>& answer, actions& out);
    void start_single(renewal_request what, bool as_downgrade, single_answered then, actions& out);
    void call_due(call& c, actions& out);

    // engine_release.cpp
    void enter_lane(const hold_ptr& h);
    void leave_lane(hold& h, actions& out);
    static void forget_reentrant(hold& h, lane& l);
    void release_held(hold& h, done then, actions& out);
    void release_lost(hold& h, done then, actions& out);
    bool hand_over(hold& h, lane& l, actions& out);
    void start_release(const std::shared_ptr<release_job>& job);
    void send_releases(actions& out);
    void release_answered(const std::shared_ptr<release_job>& job, release_reply reply,
                          actions& out);
    void release_failed(const std::shared_ptr<release_job>& job, const failure& why, actions& out);
    void end_release(const std::shared_ptr<release_job>& job, result<void> outcome, actions& out);
    void clean_up(const std::shared_ptr<const claim>& what);
    std::shared_ptr<release_job> make_job(std::shared_ptr<const claim> what, duration last);
    std::shared_ptr<release_job> make_job(hold& h);
    void start_waiting_release(hold& h);
    void tell_released(const hold& h, actions& out);

    lane& lane_of(const std::string& name);
    void drop_if_empty(lane& l);

    const std::unique_ptr<store> store_;
    const std::shared_ptr<host> host_;
    const settings settings_;

    mutable std::mutex mutex_;
    bool closed_ = false;
    bool stopped_ = false;
    std::uint64_t next_id_ = 0;
    time_point now_{};  ///< when the present step began
    time_point armed_ = time_point::max();
    timer_queue timers_;
    struct next_step final : timed {
        void fall_due(engine&, actions&) override {}
    } later_;  // brings a step, which does what is left to do
    template <class Key, class Value>
    using table = support::recycling<std::unordered_map<Key, Value>>;
    table<std::string, lane> lanes_;
    table<op_id, std::shared_ptr<op>> ops_;
    table<call_id, std::shared_ptr<call>> calls_;
    table<std::uint64_t, std::shared_ptr<release_job>> jobs_;
    std::vector<hold_ptr> renewals_due_;                      // sent at the end of the step
    std::vector<std::shared_ptr<release_job>> releases_due_;  // likewise
    std::function<void()> idle_;
};

}  // namespace holdfast::core
