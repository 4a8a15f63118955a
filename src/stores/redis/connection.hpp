// A connection to one Redis server that is made anew when it is needed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

#include "runtime/stream.hpp"
#include "runtime/timer.hpp"
#include "stores/redis/reply.hpp"

namespace holdfast::runtime {
class loop;
}

namespace holdfast::redis {

/// Where the server is, and how to greet it.
struct server {
    runtime::address at{};
    std::string user{};
    std::string password{};
    unsigned database = 0;
    duration connect_max = std::chrono::seconds{2};
    /// A server that owes an answer for longer than this is given up: the connection is broken.
    duration answer_max = std::chrono::seconds{3};
};

/// Base of the two kinds of connections. The hooks are called in the loop, one at a time, without
/// our mutex; those that end in `_locked` under it. Must be held by a shared_ptr. Safe from several
/// threads.
class connection : public runtime::stream_events, public std::enable_shared_from_this<connection> {
  public:
    connection(runtime::loop& in, const server& to);
    virtual ~connection() = default;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    /// Ends it, for good. Nothing is told afterwards.
    void close() noexcept;

  protected:
    enum class state : std::uint8_t { down, greeting, up, closed };

    /// It is greeted and ready.
    virtual void came_up() = 0;
    virtual void take(reply answer) = 0;
    /// It is down, or could not be made.
    virtual void went_down(const failure& why) = 0;
    /// Something waits for this connection, so it is made again without being asked.
    virtual bool wanted_locked() const = 0;
    /// Since when the server owes an answer; none if it does not.
    virtual std::optional<time_point> owed_since_locked() const = 0;
    /// Called now and then while it is up.
    virtual void look_around() {}

    /// Begins to connect unless it is under way. False: too early after the last failure.
    bool need_locked();
    bool up_locked() const noexcept { return state_ == state::up; }
    bool closed_locked() const noexcept { return state_ == state::closed; }
    const failure& last_failure_locked() const noexcept { return last_failure_; }
    /// Only while it is up.
    void send_locked(std::string_view bytes) { stream_->send(bytes); }
    /// An answer is owed from now on, so it has to come in time.
    void watch_locked();

    mutable std::mutex mutex_;

  private:
    void connected() final;
    void received(std::string_view bytes) final;
    void closed(failure why) final;
    void greeted(const reply& answer);
    void connect_locked();
    void give_up(const failure& why);
    void timer_due();
    std::shared_ptr<reply_reader> current_reader() const;

    runtime::loop& loop_;
    const server server_;
    state state_ = state::down;
    std::unique_ptr<runtime::stream> stream_;
    std::shared_ptr<reply_reader> reader_;
    std::unique_ptr<runtime::timer> timer_;
    bool watching_ = false;
    std::optional<time_point> greeting_since_;
    int greetings_left_ = 0;  ///< of the loop alone
    unsigned failures_ = 0;
    time_point retry_at_{};
    failure last_failure_{};
};

}  // namespace holdfast::redis
