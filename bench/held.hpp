// Very many leases in one process: what it costs to keep them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "process.hpp"
#include "work.hpp"

namespace holdfast::bench {

/// How many leases and how long each lasts without renewal.
struct held_size {
    std::size_t leases = 100'000;
    duration ttl = std::chrono::seconds{30};
    duration period() const { return ttl / 3; }  ///< from renewal to renewal
    static held_size of(const effort& how);
};

/// The name of one of them: as long as such names are.
std::string held_name(std::size_t number);

/// Rows: processor time as a share of one core, heap per lease, leases lost. `floor` gives the
/// processor seconds that the store itself needs to prolong that many rows once. `heap` is the goal
/// for the bytes.
named_work held_work(std::string url, goal heap, std::string floor_name,
                     std::function<double(const held_size&)> floor);

/// A worker: the holder, in a process of its own because the figures are those of a process.
int held_worker(const words& arguments);

}  // namespace holdfast::bench
