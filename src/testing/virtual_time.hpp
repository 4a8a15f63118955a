// A clock that stands still until somebody moves it, and the executors that live by it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <holdfast/testing.hpp>

#include "session/executor.hpp"

namespace holdfast::testing {

class virtual_executor;

/// Safe from several threads. Timers and handlers run in the thread that moves time, without the
/// mutex, in the order of their time.
class virtual_time {
  public:
    explicit virtual_time(time_flow flow) : flow_(flow) {}

    time_point now() const;
    void advance_to(time_point when);
    void run_posted();

  private:
    friend class virtual_executor;
    bool step(time_point limit);
    bool wait(runtime::signal& what, time_point limit);

    const time_flow flow_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    time_point now_{std::chrono::hours{1}};
    std::vector<virtual_executor*> members_;
    std::deque<std::function<void()>> posted_;
};

class virtual_executor final : public core::executor {
  public:
    explicit virtual_executor(std::shared_ptr<virtual_time> time);
    ~virtual_executor() override;
    /// Nothing of this client happens before then.
    void pause_until(time_point when);

    time_point now() const noexcept override { return time_->now(); }
    unique_id new_id() override;
    std::uint64_t random() override;
    void wake_at(time_point when) override;
    void serve(core::engine& due) override { engine_ = &due; }
    void post(std::function<void()> work) override;
    void set(signal& what) override;
    bool wait(signal& what, time_point limit) override { return time_->wait(what, limit); }
    void stop() noexcept override;

  private:
    friend class virtual_time;
    const std::shared_ptr<virtual_time> time_;
    core::engine* engine_ = nullptr;
    time_point due_ = time_point::max();
    time_point paused_until_{};
};

}  // namespace holdfast::testing
