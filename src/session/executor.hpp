// How a client waits: with the machine's clock and an event loop, or, in the test kit, with a
// virtual clock that the test moves.
#pragma once

#include <functional>
#include <memory>

#include "core/host.hpp"
#include "runtime/callbacks.hpp"
#include "runtime/loop.hpp"

namespace holdfast::core {

class engine;

class executor : public host {
  public:
    using signal = runtime::signal;
    /// The engine whose run_due() is to be called. Once, before anything else.
    virtual void serve(engine& due) = 0;
    /// Runs the user's code soon, never inside this call.
    virtual void post(std::function<void()> user_code) = 0;
    virtual void set(signal& what) = 0;
    /// Blocks until it is set or the limit has passed; true if set.
    virtual bool wait(signal& what, time_point limit) = 0;
    virtual void stop() noexcept = 0;
};

/// The real one.
class loop_executor final : public executor {
  public:
    runtime::loop& loop() noexcept { return loop_; }
    time_point now() const noexcept override { return boot_clock::now(); }
    unique_id new_id() override;
    std::uint64_t random() override;
    void wake_at(time_point when) override { loop_.wake_at(when); }
    void serve(engine& due) override;
    void post(std::function<void()> user_code) override { calls_.post(std::move(user_code)); }
    void tell(const std::function<void()>& user_code) override;
    void set(signal& what) override { loop_.set(what); }
    bool wait(signal& what, time_point limit) override { return loop_.wait(what, limit); }
    void stop() noexcept override;

  private:
    runtime::loop loop_;
    runtime::callbacks calls_;
};

}  // namespace holdfast::core
