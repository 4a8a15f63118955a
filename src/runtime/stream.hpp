// Connections for stores. Asio itself stays inside libholdfast: see watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <holdfast/export.hpp>
#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

namespace holdfast::runtime {

class loop;

struct tcp_address {
    std::string host;  ///< a name, or numbers of IPv4 or IPv6 without brackets
    std::uint16_t port = 0;
};
struct unix_address {
    std::string path;
};
using address = std::variant<tcp_address, unix_address>;

/// For people: "localhost:6379", "[::1]:6379", "/run/redis.sock".
HOLDFAST_EXPORT std::string to_string(const address& which);

/// What a stream tells, in the loop, never inside a call of its own and never two at once: while
/// one blocks, the stream reads nothing. What they throw is swallowed.
class stream_events {
  public:
    virtual void connected() = 0;
    /// The bytes are there until it returns.
    virtual void received(std::string_view bytes) = 0;
    /// Once, and the last: it could not connect, or the connection ended; what the peer sent before
    /// was received. errc::unavailable; the detail says what and to where.
    virtual void closed(failure why) = 0;

  protected:
    ~stream_events() = default;
};

/// A connection of bytes, over TCP or a Unix socket. From its first moment on the loop is served,
/// also while no caller is blocked. When the loop stops, nothing more is told. A forked child
/// shares the connection with its parent and must leave it alone: neither use nor destroy it. Safe
/// from several threads.
class HOLDFAST_EXPORT stream {
  public:
    /// Begins to look up the name and to connect, trying each address in turn, all within `limit`.
    /// Without a listener (any more) nothing is told.
    stream(loop& in, const address& to, duration limit, std::weak_ptr<stream_events> events);
    /// As close().
    ~stream();
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    /// In the order of the calls, each as a whole. Written at once by the calling thread as far as
    /// the kernel takes it; the rest from the loop. Before connected() it is kept; after the
    /// connection ended it is dropped. That it cannot be written is told by closed().
    void send(std::string_view bytes);
    /// How many bytes wait to be written. There is no bound but the caller's.
    std::size_t unsent() const;

    /// Closes at once, and drops what is unsent. No event is told afterwards unless one is under
    /// way in another thread.
    void close() noexcept;

  private:
    class waiting_bytes;
    struct state;
    std::shared_ptr<void> loop_;  ///< outlives the state
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::runtime
