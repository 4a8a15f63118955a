// How every entry into the engine works: decide under the mutex, act after it.
#pragma once

#include "core/actions.hpp"

namespace holdfast::core {

template <class Step>
bool engine::step(Step&& decide) {
    actions todo;
    {
        std::lock_guard guard{mutex_};
        if (stopped_) return false;
        decide(todo);
        if (!renewals_due_.empty()) send_renewals(todo);
        if (!releases_due_.empty()) send_releases(todo);
        if (const time_point next = timers_.next(); next < armed_) {
            armed_ = next;
            todo.wake_at = next;
        }
        if (closed_ && ops_.empty() && jobs_.empty()) todo.idle = idle_;
    }
    perform(todo);
    return true;
}

}  // namespace holdfast::core
