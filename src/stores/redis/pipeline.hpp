// The connection for commands: those of all threads go down it in one stream, and the answers come
// back in the same order.
#pragma once

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "stores/redis/connection.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::redis {

class pipeline final : public connection {
  public:
    /// A failure: errc::unavailable, the command was never sent; errc::outcome_unknown, it was, and
    /// the connection ended before the answer. Error replies are failures, too.
    using answered = std::function<void(result<reply>)>;

    using connection::connection;

    /// Written at once by the calling thread. `then` is called in the loop, or, if the server is
    /// known to be unreachable, in here.
    void send(std::string bytes, answered then);
    void run(script which, std::span<const std::string_view> keys,
             std::span<const std::string_view> arguments, answered then) {
        send(command_of(which, keys, arguments), std::move(then));
    }

  private:
    struct sent_command {
        std::string bytes;
        answered then;
        time_point since{};
        bool sent = false;
        bool repeated = false;
        bool loads = false;  ///< a script
    };

    void came_up() override;
    void take(reply answer) override;
    void went_down(const failure& why) override;
    bool wanted_locked() const override { return !outstanding_.empty(); }
    std::optional<time_point> owed_since_locked() const override;
    void send_locked(sent_command& one);
    void load_scripts_locked();

    std::deque<sent_command> outstanding_;
    std::size_t loading_ = 0;
};

}  // namespace holdfast::redis
