// One hot name that many want at once: how often it changes hands, and how long it lies idle.
#pragma once

#include <cstdint>
#include <functional>

#include "process.hpp"
#include "work.hpp"

namespace holdfast::bench {

struct crowd_size {
    int processes = 2;
    int threads = 16;  ///< each
};

/// How many requests the store has served so far; for the row of requests per hand-over. None: not
/// known for this way.
using request_counter = std::function<double()>;

/// Rows: hand-overs a second, requests per hand-over, the longest time that nobody held it while
/// all wanted it, and how often two held it at once.
std::vector<row> crowd_rows();
/// See open_baton() for the baton.
way crowd(std::string name, crowd_size size, words baton, const effort& how,
          request_counter requests = {});

/// A worker: one of the processes.
int crowd_worker(const words& arguments);

}  // namespace holdfast::bench
