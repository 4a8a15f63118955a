#include "stores/redis/connection.hpp"

#include <algorithm>
#include <utility>

#include "runtime/loop.hpp"
#include "support/random.hpp"

namespace holdfast::redis {
namespace {

constexpr duration pause_min = std::chrono::milliseconds{5};
constexpr duration pause_max = std::chrono::milliseconds{500};

// Doubles, with jitter, so that a fleet does not come back all at once.
duration pause_after(unsigned failures) {
    const auto longest = std::min(pause_min * (1U << std::min(failures, 10U)), pause_max);
    const auto part = static_cast<std::int64_t>(support::random_word() % 1000);
    return longest / 2 + longest / 2 * part / 1000;
}

}  // namespace

connection::connection(runtime::loop& in, const server& to) : loop_(in), server_(to) {
}

void connection::close() noexcept {
    std::unique_ptr<runtime::stream> stream;
    std::unique_ptr<runtime::timer> timer;
    std::lock_guard guard{mutex_};
    state_ = state::closed;
    stream = std::move(stream_);
    timer = std::move(timer_);
}

bool connection::need_locked() {
    if (state_ != state::down) return state_ != state::closed;
    if (boot_clock::now() < retry_at_) {
        if (wanted_locked()) timer_->set(retry_at_);
        return false;
    }
    connect_locked();
    return true;
}

void connection::connect_locked() {
    if (!timer_) {
        timer_ = std::make_unique<runtime::timer>(loop_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->timer_due();
        });
    }
    reader_ = std::make_shared<reply_reader>();
    greeting_since_.reset();
    state_ = state::greeting;
    stream_ = std::make_unique<runtime::stream>(loop_, server_.at, server_.connect_max,
                                                shared_from_this());
}

// What needs no answer to go on is sent in one piece with its followers.
void connection::connected() {
    std::lock_guard guard{mutex_};
    if (state_ != state::greeting) return;
    greeting_since_ = boot_clock::now();
    std::string bytes;
    greetings_left_ = 0;
    const auto greet = [&](std::initializer_list<std::string_view> words) {
        bytes += command_of(words);
        ++greetings_left_;
    };
    if (!server_.password.empty() && server_.user.empty()) greet({"AUTH", server_.password});
    if (!server_.user.empty()) greet({"AUTH", server_.user, server_.password});
    if (server_.database != 0) greet({"SELECT", std::to_string(server_.database)});
    greet({"CLIENT", "SETNAME", "holdfast"});
    stream_->send(bytes);
    watch_locked();
}

void connection::received(std::string_view bytes) {
    const auto reader = current_reader();
    if (!reader) return;
    reader->feed(bytes);
    while (auto answer = reader->next()) {
        if (greetings_left_ > 0) {
            greeted(*answer);
        } else {
            take(*std::move(answer));
        }
        if (reader != current_reader()) return;  // the connection has ended meanwhile
    }
    if (reader->damaged()) {
        give_up({.code = errc::bad_reply,
                 .detail = "what answers does not speak the protocol of Redis"});
    }
}

std::shared_ptr<reply_reader> connection::current_reader() const {
    std::lock_guard guard{mutex_};
    return reader_;
}

void connection::greeted(const reply& answer) {
    // A user who may not name the connection does without.
    const bool last = greetings_left_ == 1;
    if (answer.is(reply::type::error) && !last) return give_up(failure_of(answer));
    if (last && answer.text.starts_with("NOAUTH")) return give_up(failure_of(answer));
    --greetings_left_;
    if (!last) return;
    {
        std::lock_guard guard{mutex_};
        if (state_ != state::greeting) return;
        state_ = state::up;
        failures_ = 0;
    }
    came_up();
}

void connection::closed(failure why) {
    give_up(why);
}

void connection::give_up(const failure& why) {
    std::unique_ptr<runtime::stream> ended;
    {
        std::lock_guard guard{mutex_};
        if (state_ != state::greeting && state_ != state::up) return;
        state_ = state::down;
        ended = std::move(stream_);
        reader_.reset();
        greetings_left_ = 0;
        last_failure_ = why;
        retry_at_ = boot_clock::now() + pause_after(failures_++);
    }
    went_down(why);
    std::lock_guard guard{mutex_};
    if (state_ == state::down && wanted_locked()) timer_->set(retry_at_);
}

void connection::watch_locked() {
    if (std::exchange(watching_, true)) return;
    timer_->set(boot_clock::now() + server_.answer_max);
}

// One timer for two things: to connect again, and to see that answers come in time. For the latter
// it is not moved with every command; it looks when it falls due.
void connection::timer_due() {
    bool late = false;
    {
        std::lock_guard guard{mutex_};
        watching_ = false;
        if (state_ == state::closed) return;
        if (state_ == state::down) {
            if (wanted_locked()) connect_locked();
            return;
        }
        const auto now = boot_clock::now();
        const auto since = state_ == state::up ? owed_since_locked() : greeting_since_;
        late = since && now - *since >= server_.answer_max;
        if (!late && (since || wanted_locked())) {
            watching_ = true;
            timer_->set(since.value_or(now) + server_.answer_max);
        }
    }
    if (!late) return look_around();
    give_up({.code = errc::unavailable, .detail = "Redis does not answer"});
}

}  // namespace holdfast::redis
