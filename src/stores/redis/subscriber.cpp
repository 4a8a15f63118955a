#include "stores/redis/subscriber.hpp"

#include <utility>

namespace holdfast::redis {

subscriber::subscriber(runtime::loop& in, const server& to, std::weak_ptr<channel_events> events)
    : connection(in, to), events_(std::move(events)) {
}

void subscriber::subscribe(const std::string& channel) {
    std::lock_guard guard{mutex_};
    if (!channels_.try_emplace(channel, false).second) return;
    // Too early to connect again: the connection's own timer will.
    if (need_locked() && up_locked()) ask_locked("SUBSCRIBE", channel);
}

void subscriber::unsubscribe(const std::string& channel) {
    std::lock_guard guard{mutex_};
    if (channels_.erase(channel) == 0) return;
    if (up_locked()) ask_locked("UNSUBSCRIBE", channel);
}

void subscriber::ask_locked(std::string_view verb, std::string_view channel) {
    if (owed_++ == 0) heard_ = boot_clock::now();
    send_locked(command_of({verb, channel}));
    watch_locked();
}

void subscriber::came_up() {
    std::lock_guard guard{mutex_};
    if (!up_locked()) return;
    for (const auto& [channel, confirmed] : channels_) ask_locked("SUBSCRIBE", channel);
}

void subscriber::take(reply answer) {
    const auto& parts = answer.elements;
    if (parts.size() < 2) return;
    const std::string& what = parts[0].text;
    const std::string& channel = parts[1].text;
    bool confirmed = false;
    {
        std::lock_guard guard{mutex_};
        heard_ = boot_clock::now();
        if (what != "message" && owed_ > 0) --owed_;
        if (what == "subscribe") {
            const auto known = channels_.find(channel);
            confirmed = known != channels_.end();
            if (confirmed) known->second = true;
        }
    }
    const auto events = events_.lock();
    if (!events) return;
    if (confirmed) events->subscribed(channel);
    if (what == "message") events->published(channel);
}

void subscriber::went_down(const failure&) {
    std::lock_guard guard{mutex_};
    for (auto& [channel, confirmed] : channels_) confirmed = false;
    owed_ = 0;
}

std::optional<time_point> subscriber::owed_since_locked() const {
    return owed_ == 0 ? std::nullopt : std::optional{heard_};
}

// A connection on which nothing happens may be half open.
void subscriber::look_around() {
    std::lock_guard guard{mutex_};
    if (!up_locked() || owed_ != 0 || channels_.empty()) return;
    owed_ = 1;
    heard_ = boot_clock::now();
    send_locked(command_of({"PING"}));
    watch_locked();
}

}  // namespace holdfast::redis
