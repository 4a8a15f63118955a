// Handing over between two processes: from the call of release in one until acquire returns in the
// other, which has been waiting.
#pragma once

#include "process.hpp"
#include "work.hpp"

namespace holdfast::bench {

/// Rows: p50 (with this goal), p99, the highest, and how many took more than 100 ms.
std::vector<row> hand_over_rows(goal p50, const effort& how);
/// Two processes that alternate on the baton: see open_baton().
way hand_over(std::string name, words baton, const effort& how);

/// A worker: the other side.
int hand_over_worker(const words& arguments);

}  // namespace holdfast::bench
