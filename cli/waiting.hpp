// Waiting for a store in such a way that signals are still heard, and showing for whom.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "signals.hpp"

namespace holdfast::cli {

/// The line "waiting for stock — held by host/4711 for 12 s, token 7, 2 waiters ahead" on a
/// terminal, refreshed every second; one plain line if only asked for with --verbose; or nothing.
class waiting_view {
  public:
    enum class mode { off, once, live };
    waiting_view(std::vector<std::string> names, mode how);

    /// From when on the store can be asked. From any thread.
    void ask(client from);
    /// How long until update() wants to be called; negative: never. Nothing is shown for waits so
    /// short that nobody could read it.
    int milliseconds_to_update() const;
    void update();
    /// Takes the line away.
    void clear();

  private:
    std::string line();

    const std::vector<std::string> names_;
    const mode mode_;
    const time_point start_;
    time_point next_;
    bool visible_ = false;
    std::mutex mutex_;
    std::optional<client> client_;
};

/// Runs `work` in a thread of its own and waits for it. A signal that would end this process
/// requests the stop token that `work` gets; the signal is returned when `work` is done. If it is
/// not done soon after, the process ends by the signal at once. Without a signal: zero.
int run_interruptibly(signal_inbox& signals, waiting_view& view,
                      const std::function<void(std::stop_token)>& work);

}  // namespace holdfast::cli
