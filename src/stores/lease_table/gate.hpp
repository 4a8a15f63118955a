// Lets events through until it is closed, and lets the closer wait for those on their way.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::lease_table {

/// Safe from several threads.
class event_gate {
  public:
    /// One passage, or none if the gate is closed. Passages of one thread may be nested.
    class pass {
      public:
        explicit pass(event_gate* through) noexcept : through_(through) {}
        ~pass() {
            if (through_ != nullptr) through_->leave();
        }
        pass(const pass&) = delete;
        pass& operator=(const pass&) = delete;
        explicit operator bool() const noexcept { return through_ != nullptr; }

      private:
        event_gate* through_;
    };

    pass enter() {
        std::lock_guard guard{mutex_};
        if (closed_) return pass{nullptr};
        inside_.push_back(std::this_thread::get_id());
        return pass{this};
    }

    /// Returns when nobody is inside, the calling thread aside: it may close from within an event.
    void close() noexcept {
        std::unique_lock lock{mutex_};
        closed_ = true;
        const auto self = std::this_thread::get_id();
        left_.wait(lock, [&] {
            return std::ranges::all_of(inside_, [&](std::thread::id id) { return id == self; });
        });
    }

  private:
    void leave() noexcept {
        std::lock_guard guard{mutex_};
        const auto own = std::ranges::find(inside_, std::this_thread::get_id());
        *own = inside_.back();
        inside_.pop_back();
        if (closed_) left_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable left_;
    std::vector<std::thread::id> inside_;
    bool closed_ = false;
};

}  // namespace holdfast::lease_table
