#include "core/timer_queue.hpp"

namespace holdfast::core {

void timer_queue::schedule(timed& timer, time_point at) {
    if (timer.scheduled_ && timer.where_->first == at) return;
    cancel(timer);
    timer.where_ = moments_.try_emplace(at).first;
    timer_list& list = timer.where_->second;
    timer.before_ = list.last;
    timer.after_ = nullptr;
    (list.last != nullptr ? list.last->after_ : list.first) = &timer;
    list.last = &timer;
    timer.scheduled_ = true;
}

void timer_queue::cancel(timed& timer) noexcept {
    if (!timer.scheduled_) return;
    timer_list& list = timer.where_->second;
    (timer.before_ != nullptr ? timer.before_->after_ : list.first) = timer.after_;
    (timer.after_ != nullptr ? timer.after_->before_ : list.last) = timer.before_;
    timer.scheduled_ = false;
    if (list.first == nullptr) moments_.drop(timer.where_);
}

timed* timer_queue::pop_due(time_point now) noexcept {
    if (next() > now || moments_.empty()) return nullptr;
    timed* timer = moments_.begin()->second.first;
    cancel(*timer);
    return timer;
}

time_point timer_queue::next() const noexcept {
    return moments_.empty() ? time_point::max() : moments_.begin()->first;
}

}  // namespace holdfast::core
