#include "core/timer_queue.hpp"

namespace holdfast::core {

void timer_queue::schedule(timed& timer, time_point at) {
    if (timer.scheduled_ && timer.where_->first == at) return;
    cancel(timer);
    timer.where_ = moment_of(at);
    timer_list& list = timer.where_->second;
    timer.before_ = list.last;
    timer.after_ = nullptr;
    (list.last != nullptr ? list.last->after_ : list.first) = &timer;
    list.last = &timer;
    timer.scheduled_ = true;
}

timer_queue::moments::iterator timer_queue::moment_of(time_point at) {
    if (spare_.empty()) return moments_.try_emplace(at).first;
    spare_.key() = at;
    auto placed = moments_.insert(std::move(spare_));
    if (!placed.inserted) spare_ = std::move(placed.node);
    return placed.position;
}

void timer_queue::cancel(timed& timer) noexcept {
    if (!timer.scheduled_) return;
    timer_list& list = timer.where_->second;
    (timer.before_ != nullptr ? timer.before_->after_ : list.first) = timer.after_;
    (timer.after_ != nullptr ? timer.after_->before_ : list.last) = timer.before_;
    timer.scheduled_ = false;
    if (list.first == nullptr) spare_ = moments_.extract(timer.where_);
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
