#include "stores/redis/pipeline.hpp"

#include <utility>

namespace holdfast::redis {

void pipeline::send(std::string bytes, answered then) {
    failure why;
    {
        std::lock_guard guard{mutex_};
        if (need_locked()) {
            outstanding_.push_back({.bytes = std::move(bytes), .then = std::move(then)});
            if (up_locked()) send_locked(outstanding_.back());
            return;
        }
        why = closed_locked() ? failure{.code = errc::cancelled, .detail = "the store was stopped"}
                              : last_failure_locked();
    }
    then(std::move(why));
}

void pipeline::send_locked(sent_command& one) {
    one.since = boot_clock::now();
    one.sent = true;
    connection::send_locked(one.bytes);
    watch_locked();
}

void pipeline::load_scripts_locked() {
    if (loading_ != 0) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(script::count); ++i) {
        outstanding_.push_back(
            {.bytes = command_of({"SCRIPT", "LOAD", text_of(static_cast<script>(i))}),
             .then = [](const result<reply>&) {},
             .loads = true});
        ++loading_;
        send_locked(outstanding_.back());
    }
}

void pipeline::came_up() {
    std::lock_guard guard{mutex_};
    if (!up_locked()) return;
    for (auto& one : outstanding_) send_locked(one);
}

void pipeline::take(reply answer) {
    answered then;
    {
        std::lock_guard guard{mutex_};
        if (outstanding_.empty()) return;
        auto first = std::move(outstanding_.front());
        outstanding_.pop_front();
        if (first.loads) --loading_;
        // A server that was started anew does not know our scripts: they are sent, and the command
        // again, which had no effect.
        const bool unknown_script =
            answer.is(reply::type::error) && answer.text.starts_with("NOSCRIPT");
        if (unknown_script && !std::exchange(first.repeated, true) && up_locked()) {
            load_scripts_locked();
            outstanding_.push_back(std::move(first));
            return send_locked(outstanding_.back());
        }
        then = std::move(first.then);
    }
    if (answer.is(reply::type::error)) return then(failure_of(answer));
    then(std::move(answer));
}

void pipeline::went_down(const failure& why) {
    std::deque<sent_command> ended;
    {
        std::lock_guard guard{mutex_};
        ended.swap(outstanding_);
        loading_ = 0;
    }
    for (auto& one : ended) {
        failure mine = why;
        if (one.sent) mine.code = errc::outcome_unknown;
        one.then(std::move(mine));
    }
}

std::optional<time_point> pipeline::owed_since_locked() const {
    if (outstanding_.empty()) return {};
    return outstanding_.front().since;
}

}  // namespace holdfast::redis
