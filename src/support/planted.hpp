// Bugs planted on purpose, to prove that the simulation finds such bugs (tests/simulation). Built
// only with HOLDFAST_PLANTED_BUGS, where one of them can be chosen at run time; in every other
// build planted() is the constant false and leaves no code.
#pragma once

#include <cstdint>

namespace holdfast {

enum class bug : std::uint8_t {
    none,
    // In the store.
    release_without_claim_check,  // a release frees whatever is held
    token_not_raised,             // a new grant repeats the last token
    expiry_ignored_on_renew,      // holds do not end by time
    lost_wakeup,                  // the releaser forgets to wake the next waiter
    // In the core.
    deadline_from_answer,  // the local deadline counts from the answer, not from before the request
    no_margin_at_deadline,        // a hold is believed in for longer than its ttl
    late_grant_accepted,          // an answer after the validity time still gives a lease
    renewal_revives_lost,         // a late renewal makes a lost lease held again
    renewal_outlives_release,     // a released lease is still renewed
    renewal_gives_up,             // one failed renewal ends renewing
    no_cleanup_after_timeout,     // an acquisition that ended is not withdrawn from the store
    no_cleanup_of_late_grant,     // a grant after cancelling is kept by nobody
    no_recheck_after_wake,        // a wake-up is taken for a grant
    claim_id_reused,              // two acquisitions have the same claim id
    handover_keeps_token,         // a local hand-over repeats the token
    handover_of_lost_hold,        // a lost hold is handed over
    release_not_retried,          // a failed release is forgotten
    waiter_sleeps_without_timer,  // a waiter trusts wake-ups alone
    unknown_taken_for_no,         // an unknown outcome counts as a refusal
    loss_not_told,                // the deadline passes without a word
    count,
};

#if defined(HOLDFAST_PLANTED_BUGS)
inline bug& planted_bug() {
    static bug chosen = bug::none;
    return chosen;
}
inline bool planted(bug which) {
    return planted_bug() == which;
}
#else
constexpr bool planted(bug) {
    return false;
}
#endif

}  // namespace holdfast
