#include "testing/virtual_time.hpp"

#include <algorithm>

#include "core/engine.hpp"
#include "support/guarded.hpp"
#include "support/random.hpp"

namespace holdfast::testing {
time_point virtual_time::now() const {
    std::lock_guard guard{mutex_};
    return now_;
}

// Does the next thing that is ready or falls due by the limit, and moves time to it.
bool virtual_time::step(time_point limit) {
    std::unique_lock lock{mutex_};
    if (!posted_.empty()) {
        const auto work = std::move(posted_.front());
        posted_.pop_front();
        lock.unlock();
        support::run_guarded(work);
        return true;
    }
    const auto when = [](const virtual_executor* member) {
        return std::max(member->due_, member->paused_until_);
    };
    const auto next = std::ranges::min_element(members_, {}, when);
    if (next == members_.end() || when(*next) > limit || (*next)->due_ == time_point::max()) {
        return false;
    }
    virtual_executor& member = **next;
    now_ = std::max(now_, when(&member));
    member.due_ = time_point::max();
    changed_.notify_all();
    lock.unlock();
    member.engine_->run_due();
    return true;
}

void virtual_time::advance_to(time_point when) {
    while (step(when)) {
    }
    std::lock_guard guard{mutex_};
    now_ = std::max(now_, when);
    changed_.notify_all();
}

void virtual_time::run_posted() {
    advance_to(now());
}

bool virtual_time::wait(runtime::signal& what, time_point limit) {
    while (!what.is_set) {
        if (flow_ == time_flow::jumps && step(limit)) continue;
        std::unique_lock lock{mutex_};
        if (flow_ == time_flow::jumps && limit != time_point::max()) {
            now_ = std::max(now_, limit);
        }
        if (what.is_set || now_ >= limit) break;
        changed_.wait(lock);
    }
    return what.is_set;
}

virtual_executor::virtual_executor(std::shared_ptr<virtual_time> time) : time_(std::move(time)) {
    std::lock_guard guard{time_->mutex_};
    time_->members_.push_back(this);
}

virtual_executor::~virtual_executor() {
    stop();
}

void virtual_executor::pause_until(time_point when) {
    std::lock_guard guard{time_->mutex_};
    paused_until_ = when;
}

unique_id virtual_executor::new_id() {
    return support::new_id();
}
std::uint64_t virtual_executor::random() {
    return support::random_word();
}

void virtual_executor::wake_at(time_point when) {
    std::lock_guard guard{time_->mutex_};
    due_ = std::min(due_, when);
    time_->changed_.notify_all();
}

void virtual_executor::post(std::function<void()> work) {
    std::lock_guard guard{time_->mutex_};
    time_->posted_.push_back(std::move(work));
    time_->changed_.notify_all();
}

void virtual_executor::set(signal& what) {
    std::lock_guard guard{time_->mutex_};
    what.is_set = true;
    time_->changed_.notify_all();
}

void virtual_executor::stop() noexcept {
    std::lock_guard guard{time_->mutex_};
    std::erase(time_->members_, this);
}

}  // namespace holdfast::testing
