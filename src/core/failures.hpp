// What the core says when it has nothing else to give, the same words wherever it is said.
#pragma once

#include <string>

#include "core/hold.hpp"

namespace holdfast::core {

inline failure shut_down(std::string lock = {}) {
    return {.code = errc::cancelled, .detail = "the client is shut down", .lock = std::move(lock)};
}

inline failure nothing_held(std::string lock = {}) {
    return {.code = errc::not_held, .detail = "nothing is held", .lock = std::move(lock)};
}

inline failure lost(const std::string& what, loss_reason why, const std::string& lock) {
    return {.code = errc::lost, .detail = what + to_string(why), .lock = lock, .loss = why};
}

/// Why a hold that is not held any more is of no use.
inline failure why_not(const hold& h) {
    if (h.status != hold::state::lost) return nothing_held(h.asked->name);
    return lost("the lease was lost: ", h.loss, h.asked->name);
}

}  // namespace holdfast::core
