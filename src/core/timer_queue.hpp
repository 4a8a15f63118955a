// Timers, in the order in which they fall due.
#pragma once

#include <map>

#include <holdfast/types.hpp>

#include "support/recycling.hpp"

namespace holdfast::core {

class actions;
class engine;
class timed;

/// The timers that share one moment, in the order in which they were scheduled.
struct timer_list {
    timed* first = nullptr;
    timed* last = nullptr;
};

/// Something that can be scheduled once at a time. Not copyable: the queue points to it.
class timed {
  public:
    timed() = default;
    timed(const timed&) = delete;
    timed& operator=(const timed&) = delete;
    virtual ~timed() = default;
    /// Called by the engine, under its mutex, after it was taken off the queue.
    virtual void fall_due(engine& in, actions& out) = 0;

  private:
    friend class timer_queue;
    std::map<time_point, timer_list>::iterator where_{};
    timed* before_ = nullptr;
    timed* after_ = nullptr;
    bool scheduled_ = false;
};

/// Scheduling and cancelling cost a look-up among the distinct moments, so callers who can are to
/// round: 100,000 leases then share a few dozen moments, and those of one moment make one batch.
class timer_queue {
  public:
    /// Replaces an earlier schedule of the same timer.
    void schedule(timed& timer, time_point at);
    void cancel(timed& timer) noexcept;
    /// The next timer that is due, taken off the queue; none if none is.
    timed* pop_due(time_point now) noexcept;
    /// When pop_due has something next; the end of time if never.
    time_point next() const noexcept;

  private:
    support::recycling<std::map<time_point, timer_list>> moments_;
};

}  // namespace holdfast::core
