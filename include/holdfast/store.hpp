// The promise to and from people who write a store. Users of locks do not need this header.
//
// The contract, each line a row of the conformance suite (tests/conformance):
//  1. One attempt per call. Waiting, retrying and renewing belong to the core. Calls return without
//     blocking on the network; many may be in flight; answers come through store_events, in any
//     order, from any thread, also from inside the call itself.
//  2. acquire is idempotent per claim id: the same claim gets the same hold and token, or keeps its
//     place in the queue.
//  3. renew, release, downgrade and evict compare claim or token in the store, atomically. A stale
//     release changes nothing. Renewal never revives and never shortens.
//  4. Expiry is judged by the store's clock, exact at the statement. No client's time is stored as
//     truth.
//  5. An answer is yes, no, or cannot know. errc::unavailable: surely had no effect.
//     errc::outcome_unknown: may have had one. Neither is ever reported as yes or no.
//  6. A wait ends at once if anything changed since the refusal that it follows; it is a hint.
//  7. Tokens rise strictly per name, across release, expiry and, where the store keeps its data,
//     restart. A store that cannot promise this says so in `capabilities::fencing`.
//  8. Names are opaque bytes, 1 to 255, never normalised or cut.
//  9. Capabilities are facts, fixed after opening; the core refuses unsupported requests itself.
// 10. renew and release take many holds in one call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/inspect.hpp>
#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

namespace holdfast {

/// What a store can do. Facts, not wishes.
struct capabilities {
    bool fencing = false;       ///< rule 7 holds
    bool token_blocks = false;  ///< can reserve several tokens with one grant
    bool shared = false;        ///< shared_mutex
    bool semaphores = false;
    bool fair = false;           ///< keeps a queue of waiters
    bool inspect = false;        ///< list, show, waiters
    bool evict = false;          ///< break a hold whose token still stands
    bool process_bound = false;  ///< a bound hold ends at once when its process dies
    bool kinds_last = false;     ///< the name of a semaphore stays one when nobody holds it
    std::uint32_t permits_max = 1'000'000;  ///< that one claim may ask for
    duration ttl_min{};
    duration ttl_max{};
    /// The longest time a waiter may stay away: it must ask again at least this often.
    duration poll_max{};
    /// By how much the store's clock may run faster than ours, as parts per million of the ttl.
    std::uint32_t drift_ppm = 0;
    std::size_t batch_max = 1000;  ///< holds per renew or release call
};

/// One request for a hold. Everything a store needs to decide, and nothing that it must remember
/// on our behalf. `permits` of zero is a probe: granted, without a hold, when nobody holds the
/// name.
struct claim {
    std::string name;
    claim_id id;
    kind what = kind::mutex;
    access how = access::exclusive;
    order next = order::standard;
    std::uint32_t permits = 1;
    std::uint32_t capacity = 1;
    std::uint32_t tokens = 1;  ///< reserve this many consecutive tokens, if the store can
    duration ttl{};
    bool waits = false;   ///< if refused, keep a place in the queue until granted or released
    std::string owner{};  ///< host/pid/label, for people
};

/// The claim holds. Also the answer to a repeated claim that already held.
struct granted {
    fencing_token token;       ///< the first of the block
    std::uint32_t tokens = 1;  ///< how many consecutive tokens belong to this grant
    duration remaining{};      ///< by the store's clock at the statement; a fresh grant: the ttl
};

/// The claim does not hold.
struct refused {
    std::optional<holder_info> holder{};
    /// When asking again makes sense even without a wake-up; at most capabilities::poll_max.
    duration retry_after{};
    /// Hand this to wait(): it marks what had happened by this refusal.
    std::uint64_t cursor = 0;
};
using acquire_reply = std::variant<granted, refused>;

/// Names one hold (or one queued claim) in the store.
struct hold_ref {
    std::string name;
    claim_id id;
};

/// Whether a hold ends with the process that renews it.
enum class binding : std::uint8_t {
    keep,    ///< as it is
    attach,  ///< from now on with ours
    detach,  ///< from now on only with its ttl
};

/// One line of a renew call.
struct renewal_request {
    hold_ref hold;
    duration ttl{};
    binding bind = binding::keep;
    /// If not zero: the hold must also carry this token.
    fencing_token token{};
};

/// The answer to one line: how long it lasts now, or why it is gone.
struct renewal_reply {
    duration remaining{};
    loss_reason lost = loss_reason::none;
    access how = access::exclusive;  ///< as stored, for a hold that is adopted
    kind what = kind::mutex;
    std::uint32_t permits = 1;
};

/// The answer to one line of a release call: freed (or withdrawn from the queue), or nothing there.
enum class release_reply : std::uint8_t { released, not_held };

/// Names a call, so that its answer can be told. Chosen by the core, unique per store object.
using call_id = std::uint64_t;

/// Through which a store answers. Implemented by the core. Safe to call from any thread; must not
/// be called while the store holds a mutex that its own calls take.
class store_events {
  public:
    virtual void acquired(call_id call, result<acquire_reply> answer) = 0;
    /// The wait is over: something changed, or (failure) the store cannot watch any more.
    virtual void changed(call_id call, result<void> answer) = 0;
    /// One reply for each request of the call, in order.
    virtual void renewed(call_id call, result<std::vector<renewal_reply>> answer) = 0;
    virtual void released(call_id call, result<std::vector<release_reply>> answer) = 0;
    virtual void downgraded(call_id call, result<renewal_reply> answer) = 0;
    /// Unasked: this hold is known to be gone.
    virtual void gone(const hold_ref& hold, loss_reason why) = 0;

  protected:
    ~store_events() = default;
};

/// What a store shows to operators. These calls may block, and are not used by locks.
class inspector {
  public:
    virtual ~inspector() = default;
    /// Every name that starts with `prefix` and has holders or waiters, or (all) was ever used.
    virtual result<std::vector<lock_record>> list(std::string_view prefix, bool all) = 0;
    virtual result<lock_record> show(std::string_view name) = 0;
    /// Ends the hold that carries `token`, only if it still does; errc::not_held otherwise. The
    /// store keeps a line of who did it. Raises the token of the name.
    virtual result<holder_record> evict(std::string_view name, fencing_token token,
                                        std::string_view who) = 0;
    virtual std::vector<finding> examine() = 0;
};

/// A store. Safe from several threads. Everything that blocks or waits is in the core.
class store {
  public:
    virtual ~store() = default;
    virtual const capabilities& caps() const noexcept = 0;
    /// For messages: the URL without secrets.
    virtual const std::string& where() const noexcept = 0;
    /// Called once, before any other call.
    virtual void start(store_events& events) = 0;
    /// No event is delivered after this returns, and queued claims of this client are withdrawn.
    virtual void stop() noexcept = 0;

    virtual void acquire(call_id call, const claim& request) = 0;
    /// Answered by store_events::changed, once, when something may have changed for this waiting
    /// claim since the refusal with this cursor.
    virtual void wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) = 0;
    /// The core no longer cares; no event needs to follow.
    virtual void end_wait(call_id call) noexcept = 0;
    virtual void renew(call_id call, std::span<const renewal_request> requests) = 0;
    virtual void release(call_id call, std::span<const hold_ref> holds) = 0;
    /// Exclusive becomes shared, atomically, for at least `request.ttl`.
    virtual void downgrade(call_id call, const renewal_request& request) = 0;

    virtual inspector& inspect() = 0;
};

}  // namespace holdfast
