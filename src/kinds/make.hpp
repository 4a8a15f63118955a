// What every kind does when it is made.
#pragma once

#include "session/session.hpp"

namespace holdfast::core {

/// Throws lock_error if the store cannot do it or the name is wrong: at start-up, not at 3 a.m.
inline void require(const client& from, const wanted& what) {
    if (auto wrong = client_access::of(from).check(what)) throw lock_error(*std::move(wrong));
}

}  // namespace holdfast::core
