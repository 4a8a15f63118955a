// What a store can tell about its locks: for operators, the command line and tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast {

/// One hold as the store shows it.
struct holder_record {
    claim_id claim{};
    std::string owner{};         ///< host/pid/label as the holder gave it; hostile input, escape it
    fencing_token token{};       ///< the first token of the grant
    fencing_token token_last{};  ///< the last one reserved with it; equal unless passed on locally
    access how = access::exclusive;
    std::uint32_t permits = 1;
    duration held_for{};   ///< since the grant
    duration remaining{};  ///< until it ends unless renewed
    bool bound = false;    ///< ends at once when its process dies
};

/// One claim that waits, in the order in which they are served.
struct waiter_record {
    claim_id claim{};
    std::string owner{};
    access how = access::exclusive;
    std::uint32_t permits = 1;
    duration waiting_for{};
};

/// One name.
struct lock_record {
    std::string name{};
    kind what = kind::mutex;
    std::uint32_t capacity = 1;  ///< permits in all; only for semaphores
    fencing_token token{};       ///< the newest token granted for this name
    std::vector<holder_record> holders{};
    std::vector<waiter_record> waiters{};
};

/// What `holdfast doctor` says about a store.
struct finding {
    enum class level : std::uint8_t { ok, note, warning, error };
    level severity = level::ok;
    std::string subject{};  ///< what was looked at, two or three words
    std::string text{};     ///< what was found, a sentence
    std::string advice{};   ///< what to do; empty if nothing
};

}  // namespace holdfast
