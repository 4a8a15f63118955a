// Adapters to the standard's lock types.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

namespace holdfast {
namespace detail {

/// Blocks for a random part of `most`.
HOLDFAST_EXPORT void pause_at_random(duration most);

}  // namespace detail

/// Makes a kind usable with std::unique_lock, std::scoped_lock, std::lock and, if the kind has
/// shared holds, std::shared_lock (Lockable, TimedLockable, SharedTimedLockable).
///
///     lockable<mutex> a{mutex{client, "a"}};
///     std::scoped_lock guard{a};
///     db.write(a.held().token());
///
/// The standard's guards cannot report that a hold was lost nor hand out its token: look at held().
/// Prefer the lease. With several locks prefer multi_lock: std::lock backs off with round trips.
///
/// unlock() and unlock_shared() do not throw, and may be called from another thread than lock().
/// Must outlive its guards; not copyable, not movable, like std::mutex. Safe from several threads.
template <class Kind>
class lockable {
  public:
    explicit lockable(Kind kind, acquire_options how = {})
        : kind_(std::move(kind)), how_(std::move(how)) {}
    lockable(const lockable&) = delete;
    lockable& operator=(const lockable&) = delete;
    ~lockable() = default;

    /// Waits; throws lock_error without having acquired.
    void lock() { keep(kind_.acquire(waiting(forever))); }
    /// False if busy; throws lock_error for everything but busy and timed out.
    /// A refusal takes up to three times as long as the store needs for it, at random: std::lock
    /// and std::scoped_lock try again at once, and two threads that want the same names in another
    /// order would go on in step, each refusing the other.
    bool try_lock() {
        const auto start = boot_clock::now();
        if (keep_if(kind_.try_acquire(waiting(duration::zero())))) return true;
        detail::pause_at_random(2 * (boot_clock::now() - start));
        return false;
    }
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return keep_if(kind_.try_acquire(waiting(rounded(wait))));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& end) {
        return try_lock_for(end - Clock::now());
    }
    /// Releases; a failure goes to the observer.
    void unlock() noexcept { drop(access::exclusive); }

    void lock_shared() requires requires(Kind k) { k.acquire_shared(); }
    { keep(kind_.acquire_shared(waiting(forever))); }
    bool try_lock_shared() requires requires(Kind k) { k.acquire_shared(); }
    { return keep_if(kind_.try_acquire_shared(waiting(duration::zero()))); }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) requires
        requires(Kind k) {
        k.acquire_shared();
    }
    { return keep_if(kind_.try_acquire_shared(waiting(rounded(wait)))); }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& end) requires
        requires(Kind k) {
        k.acquire_shared();
    }
    { return try_lock_shared_for(end - Clock::now()); }
    void unlock_shared() noexcept { drop(access::shared); }

    /// The lease that the calling thread got through this adapter (the oldest one, if another
    /// thread locked it). Valid until it is unlocked. std::logic_error if nothing is locked.
    const lease& held() const {
        std::lock_guard guard{mutex_};
        if (entries_.empty()) throw std::logic_error("holdfast::lockable::held: not locked");
        return *entries_[find(nullptr)].hold;
    }

  private:
    struct entry {
        std::thread::id locker;
        std::unique_ptr<lease> hold;
    };

    acquire_options waiting(duration wait) const {
        auto how = how_;
        how.wait = wait;
        return how;
    }
    template <class Rep, class Period>
    static duration rounded(const std::chrono::duration<Rep, Period>& wait) {
        using wide = std::chrono::duration<double, std::nano>;
        if (wait <= wait.zero()) return duration::zero();
        if (wide(wait) >= wide(forever)) return forever;
        return std::chrono::ceil<duration>(wait);
    }
    void keep(lease got) {
        auto held = std::make_unique<lease>(std::move(got));
        std::lock_guard guard{mutex_};
        entries_.push_back({std::this_thread::get_id(), std::move(held)});
    }
    bool keep_if(result<lease> got) {
        if (got) return keep(*std::move(got)), true;
        const errc why = got.error().code;
        if (why != errc::busy && why != errc::timed_out) throw lock_error(std::move(got).error());
        return false;
    }
    // The newest entry of this thread with that access, else the oldest one with it. A hold that
    // was lost may still be here when the next thread has already been granted the lock, so
    // several exclusive entries can exist for a moment.
    std::size_t find(const access* how) const {
        std::size_t found = entries_.size();
        for (std::size_t i = entries_.size(); i-- > 0;) {
            if (how != nullptr && entries_[i].hold->how() != *how) continue;
            if (entries_[i].locker == std::this_thread::get_id()) return i;
            found = i;
        }
        return found;
    }
    void drop(access how) noexcept {
        std::unique_ptr<lease> released;
        {
            std::lock_guard guard{mutex_};
            const std::size_t i = find(&how);
            if (i == entries_.size()) return;
            released = std::move(entries_[i].hold);
            entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
        }
        released.reset();
    }

    Kind kind_;
    acquire_options how_;
    mutable std::mutex mutex_;
    std::vector<entry> entries_;
};

template <class Kind>
lockable(Kind) -> lockable<Kind>;

}  // namespace holdfast
