// Starts the worker processes, lets them go at the same moment, and collects what they did.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model.hpp"
#include "wire.hpp"

namespace holdfast::cli::demo {

/// The user ended the demo with a signal. Not an error: everything is cleaned up on the way out.
struct interrupted {
    int signal = 0;
};

/// While one exists, SIGINT, SIGTERM and SIGHUP are taken from a descriptor, so that the demo can
/// end its workers and remove its files. One per process, before the first thread.
class interruptions {
  public:
    interruptions();
    interruptions(const interruptions&) = delete;
    interruptions& operator=(const interruptions&) = delete;
    ~interruptions();
    int descriptor_number() const noexcept { return inbox_; }
    /// Throws interrupted if there was one.
    void check() const;

  private:
    int inbox_ = -1;
};

struct teamwork {
    readiness store;
    time_point started;
    time_point ended;
    std::vector<action> actions;
};

/// One process for each of the orders. Throws lock_error if a worker has no use of the store, and
/// std::exception if one breaks or hangs; then all are ended.
teamwork run_team(std::span<const orders> all, const interruptions& by_user);

}  // namespace holdfast::cli::demo
