// How a stream gets its connection.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <holdfast/result.hpp>

#include "runtime/boot_timer.hpp"
#include "runtime/names.hpp"
#include "runtime/stream.hpp"

namespace holdfast::runtime {

/// Looks a name up and tries its addresses, each for its share of what is left of the limit, so
/// that one that does not answer leaves time for the next. Works in the loop.
class connector : public std::enable_shared_from_this<connector> {
  public:
    /// The connected socket, non-blocking; or errc::unavailable.
    using outcome = std::function<void(result<boost::asio::posix::stream_descriptor>)>;

    connector(const std::shared_ptr<boost::asio::io_context>& io, address to, duration limit,
              outcome told);
    void start();
    /// Closes at once, from any thread. The outcome is not told any more unless it is under way.
    void cancel() noexcept;

  private:
    using lock = std::unique_lock<std::mutex>;

    void begin();
    void look_up(const tcp_address& which);
    void take_answer(const name_answer& answer);
    void await_clock();
    void on_clock();
    void try_next(lock& held);
    int open(const endpoint& at);
    void await_connected();
    void on_connected(std::size_t attempt);
    void fail(lock& held, const std::string& why);
    void finish(lock& held, result<boost::asio::posix::stream_descriptor> with);

    const std::weak_ptr<boost::asio::io_context> io_;
    const address to_;
    const duration limit_;
    const time_point end_;

    std::mutex mutex_;
    outcome told_;  ///< until it is over
    boot_timer clock_;
    boost::asio::posix::stream_descriptor socket_;
    std::vector<endpoint> addresses_;
    std::size_t next_ = 0;     ///< the address that is tried
    std::size_t attempt_ = 0;  ///< tells answers to earlier attempts apart
    bool busy_ = false;        ///< the peer is there, but has no place for us yet
    std::string last_error_;
};

}  // namespace holdfast::runtime
