// Uncontended work: how many pairs of acquire and release a second, one after the other.
#pragma once

#include <functional>
#include <string>

#include "work.hpp"

namespace holdfast::bench {

/// Repeats it for about that long; how often a second.
double repeated(const std::function<void()>& pair, duration how_long);

/// A mutex of the store: acquire and release, each time again.
way our_pairs(const std::string& url, duration how_long);
/// The same with flock(2) on a file.
way flock_pairs(const std::string& path, duration how_long);

/// The cost of the library itself: the store in memory, one thread and eight threads. In
/// microseconds of processor time, which other programs on the machine disturb the least; nothing
/// sleeps on this path, so on a quiet machine it is the time that passes as well.
named_work core_work();

}  // namespace holdfast::bench
