#include "runtime/stream.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "runtime/connector.hpp"
#include "runtime/loop.hpp"
#include "support/guarded.hpp"

namespace holdfast::runtime {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::size_t chunk_size = 16UL * 1024;
// A peer that sends without end does not keep the loop from the others.
constexpr int chunks_in_turn = 16;
// What a burst needed is given back.
constexpr std::size_t kept_capacity = 64UL * 1024;

}  // namespace

std::string to_string(const address& which) {
    if (const auto* local = std::get_if<unix_address>(&which)) return local->path;
    const auto& remote = std::get<tcp_address>(which);
    const auto port = ":" + std::to_string(remote.port);
    const bool colons = remote.host.find(':') != std::string::npos;
    return colons ? "[" + remote.host + "]" + port : remote.host + port;
}

// Bytes that wait, taken from the front.
class stream::waiting_bytes {
  public:
    std::string_view view() const noexcept { return std::string_view{bytes_}.substr(taken_); }
    void add(std::string_view more) { bytes_.append(more); }
    void take(std::size_t count) {
        taken_ += count;
        if (taken_ == bytes_.size()) return clear();
        if (taken_ < kept_capacity || taken_ < bytes_.size() / 2) return;
        bytes_.erase(0, taken_);
        taken_ = 0;
    }
    void clear() noexcept {
        taken_ = 0;
        bytes_.clear();
        if (bytes_.capacity() > kept_capacity) bytes_ = std::string{};
    }

  private:
    std::string bytes_;
    std::size_t taken_ = 0;
};

// Events come one after the other because each next step begins when the one before has been told:
// nothing is read before connected() has returned, and nothing further before received() has. The
// end, too, is found by reading.
struct stream::state : std::enable_shared_from_this<stream::state> {
    state(boost::asio::io_context& io, const address& to, std::weak_ptr<stream_events> listener)
        : where(to_string(to)), events(std::move(listener)), socket(io) {}

    // The connector's outcome.
    void take(result<stream_descriptor> got) {
        if (!got) {
            if (give_up()) tell([&](auto& to) { to.closed(std::move(got).error()); });
            return;
        }
        if (!open(*std::move(got))) return;
        tell([](auto& to) { to.connected(); });
        await_readable();
    }

    bool give_up() {
        std::lock_guard guard{mutex};
        if (over) return false;
        connecting = nullptr;
        end();
        return true;
    }

    bool open(stream_descriptor connected) {
        std::lock_guard guard{mutex};
        if (over) return false;
        connecting = nullptr;
        socket = std::move(connected);
        write_waiting();
        return true;
    }

    template <class Event>
    void tell(Event event) {
        if (const auto to = events.lock()) support::run_guarded([&] { event(*to); });
    }

    void await_readable() {
        std::lock_guard guard{mutex};
        if (over) return;
        socket.async_wait(stream_descriptor::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                              if (!error) self->read();
                          });
    }

    void read() {
        for (int chunk = 0; chunk < chunks_in_turn; ++chunk) {
            std::optional<failure> why;
            const std::size_t count = read_some(why);
            if (why) return tell([&](auto& to) { to.closed(*std::move(why)); });
            if (count == 0) break;
            tell([&](auto& to) { to.received({buffer.data(), count}); });
            if (count < buffer.size()) break;  // what came meanwhile, the next wait finds
        }
        await_readable();
    }

    std::size_t read_some(std::optional<failure>& why) {
        std::lock_guard guard{mutex};
        if (over) return 0;
        const auto count =
            ::recv(socket.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count > 0) return static_cast<std::size_t>(count);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
        const int error = count == 0 ? 0 : errno;
        why = broken ? std::move(broken)
              : error == 0
                  ? failure{errc::unavailable, "the peer closed the connection to " + where}
                  : lost(error);
        end();
        return 0;
    }

    failure lost(int error) const {
        const auto text = std::system_category().message(error);
        return {errc::unavailable, "lost the connection to " + where + ": " + text};
    }

    // From here on under the mutex.

    void write_waiting() {
        waiting.take(write(waiting.view()));
        await_writable();
    }

    // How much the kernel took.
    std::size_t write(std::string_view bytes) {
        std::size_t done = 0;
        while (done < bytes.size() && !broken) {
            const auto rest = bytes.substr(done);
            const auto count = ::send(socket.native_handle(), rest.data(), rest.size(),
                                      MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count >= 0) {
                done += static_cast<std::size_t>(count);
            } else if (errno == EAGAIN) {
                break;
            } else if (errno != EINTR) {
                break_off(errno);
            }
        }
        return done;
    }

    // What the peer sent before can still be read; the end after it tells why.
    void break_off(int error) {
        ::shutdown(socket.native_handle(), SHUT_RDWR);
        broken = lost(error);
    }

    void await_writable() {
        if (broken) waiting.clear();
        if (waiting.view().empty() || awaiting_writable) return;
        awaiting_writable = true;
        socket.async_wait(stream_descriptor::wait_write,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                              std::lock_guard guard{self->mutex};
                              self->awaiting_writable = false;
                              if (!error && !self->over) self->write_waiting();
                          });
    }

    void end() noexcept {
        over = true;
        waiting.clear();
        boost::system::error_code ignored;
        socket.close(ignored);
    }

    const std::string where;
    const std::weak_ptr<stream_events> events;
    std::array<char, chunk_size> buffer;  // the reader's

    std::mutex mutex;  // of the rest
    std::shared_ptr<connector> connecting;
    stream_descriptor socket;
    waiting_bytes waiting;
    bool awaiting_writable = false;
    std::optional<failure> broken;  // nothing can be written any more
    bool over = false;
};

stream::stream(loop& in, const address& to, duration limit, std::weak_ptr<stream_events> events) {
    const auto io = in.shared_io();
    loop_ = io;
    state_ = std::make_shared<state>(*io, to, std::move(events));
    auto told = [weak = std::weak_ptr{state_}](result<stream_descriptor> got) {
        if (const auto self = weak.lock()) self->take(std::move(got));
    };
    state_->connecting = std::make_shared<connector>(io, to, limit, std::move(told));
    state_->connecting->start();
    in.attend();
}

stream::~stream() {
    close();
}

void stream::send(std::string_view bytes) {
    state& s = *state_;
    std::lock_guard guard{s.mutex};
    if (s.over || s.broken) return;
    if (s.connecting || !s.waiting.view().empty()) return s.waiting.add(bytes);
    const auto done = s.write(bytes);
    try {
        s.waiting.add(bytes.substr(done));
        s.await_writable();
    } catch (...) {
        // The peer must not see the half of it and then something else.
        s.break_off(ENOMEM);
        s.await_writable();
        throw;
    }
}

std::size_t stream::unsent() const {
    std::lock_guard guard{state_->mutex};
    return state_->waiting.view().size();
}

void stream::close() noexcept {
    std::shared_ptr<connector> connecting;
    {
        std::lock_guard guard{state_->mutex};
        state_->end();
        connecting = std::move(state_->connecting);
    }
    if (connecting) connecting->cancel();
}

}  // namespace holdfast::runtime
