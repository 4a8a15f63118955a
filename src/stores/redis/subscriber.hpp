// The connection on which Redis publishes what happens: one for any number of channels.
#pragma once

#include <string>
#include <unordered_map>

#include "stores/redis/connection.hpp"

namespace holdfast::redis {

/// Called in the loop.
class channel_events {
  public:
    /// From now on nothing published there is missed. Anything may have been before: also told
    /// after the connection was made anew.
    virtual void subscribed(const std::string& channel) = 0;
    virtual void published(const std::string& channel) = 0;

  protected:
    ~channel_events() = default;
};

class subscriber final : public connection {
  public:
    subscriber(runtime::loop& in, const server& to, std::weak_ptr<channel_events> events);

    void subscribe(const std::string& channel);
    void unsubscribe(const std::string& channel);

  private:
    void came_up() override;
    void take(reply answer) override;
    void went_down(const failure& why) override;
    bool wanted_locked() const override { return !channels_.empty(); }
    std::optional<time_point> owed_since_locked() const override;
    void look_around() override;
    void ask_locked(std::string_view verb, std::string_view channel);

    const std::weak_ptr<channel_events> events_;
    std::unordered_map<std::string, bool> channels_;  ///< true: confirmed
    std::size_t owed_ = 0;
    time_point heard_{};  ///< when it last said something, or was asked while it owed nothing
};

}  // namespace holdfast::redis
