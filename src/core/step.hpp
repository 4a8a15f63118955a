// How every entry into the engine works: decide under the mutex, act after it.
#pragma once

#include <exception>

#include "core/actions.hpp"

namespace holdfast::core {

/// If memory runs out in the middle, what was decided by then is done all the same: others wait for
/// it. Then the exception leaves.
template <class Step>
bool engine::step(Step&& decide) {
    actions todo;
    std::exception_ptr failed;
    {
        std::lock_guard guard{mutex_};
        if (stopped_) return false;
        now_ = host_->now();
        try {
            decide(todo);
            if (!renewals_due_.empty()) send_renewals(todo);
            if (!releases_due_.empty()) send_releases(todo);
        } catch (...) {
            failed = std::current_exception();
            keep_due();
        }
        if (const time_point next = timers_.next(); next < armed_) {
            armed_ = next;
            todo.wake_at = next;
        }
        if (closed_ && ops_.empty() && jobs_.empty()) todo.idle = idle_;
    }
    perform(todo);
    if (failed) std::rethrow_exception(failed);
    return true;
}

}  // namespace holdfast::core
