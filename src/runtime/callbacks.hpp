// Where users' callbacks run when the event loop has something to tell them.
#pragma once

#include <functional>
#include <memory>

namespace holdfast::runtime {

/// One thread, started when first needed, that runs what it is given in order. A callback that
/// blocks delays the callbacks after it, but no renewal, no deadline and no other lease's loss.
/// What a callback throws is swallowed. Safe from several threads.
class callbacks {
  public:
    callbacks();
    /// As stop().
    ~callbacks();
    callbacks(const callbacks&) = delete;
    callbacks& operator=(const callbacks&) = delete;

    void post(std::function<void()> user_code);
    /// Returns when all that was posted has run; called from a callback, it returns at once and the
    /// rest runs after it.
    void stop() noexcept;

  private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::runtime
