// Waiting in tests: for a condition, with a deadline, never for the mere passing of time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include <holdfast/types.hpp>

namespace holdfast::tests {

/// "At once", on a machine that does other things as well.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr duration promptly = std::chrono::milliseconds{500};
#else
inline constexpr duration promptly = std::chrono::milliseconds{50};
#endif

/// Looks every millisecond; false if it is not so in time.
inline bool eventually(const std::function<bool()>& it_is_so,
                       duration limit = std::chrono::seconds{20}) {
    const auto end = boot_clock::now() + limit;
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock{mutex};
    while (!it_is_so()) {
        if (boot_clock::now() >= end) return it_is_so();
        never.wait_for(lock, std::chrono::milliseconds{1});
    }
    return true;
}

/// For a store's expiry, where only the machine's clock moves time.
inline void wait_for_clock(duration how_long) {
    const auto end = boot_clock::now() + how_long;
    eventually([&] { return boot_clock::now() >= end; }, how_long + std::chrono::seconds{10});
}

/// A flag that one thread sets and others wait for.
class event_flag {
  public:
    void set() {
        std::lock_guard guard{mutex_};
        is_set_ = true;
        changed_.notify_all();
    }
    /// False if it is not set in time.
    bool wait(duration limit = std::chrono::seconds{20}) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, limit, [&] { return is_set_; });
    }
    bool is_set() {
        std::lock_guard guard{mutex_};
        return is_set_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_set_ = false;
};

}  // namespace holdfast::tests
