#include "runtime/connector.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

namespace holdfast::runtime {
namespace asio = boost::asio;
using asio::posix::stream_descriptor;
namespace {

// A Unix socket whose queue is full does not tell when there is a place.
constexpr duration again_after = std::chrono::milliseconds{5};

time_point after(duration limit) {
    const auto now = boot_clock::now();
    return limit > time_point::max() - now ? time_point::max() : now + limit;
}

std::string text(duration limit) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::string text(int error) {
    return std::system_category().message(error);
}

void set_option(int fd, int level, int name) {
    const int on = 1;
    ::setsockopt(fd, level, name, &on, sizeof on);
}

int pending_error(int fd) {
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// A socket that looks for a port of this machine may be given that very port, and then finds
// itself: nobody listens there, and now nobody can.
bool met_itself(int fd) {
    std::array<sockaddr_storage, 2> ends{};
    std::array<socklen_t, 2> sizes{sizeof(sockaddr_storage), sizeof(sockaddr_storage)};
    const auto at = [&](std::size_t which) { return reinterpret_cast<sockaddr*>(&ends[which]); };
    return ::getsockname(fd, at(0), &sizes[0]) == 0 && ::getpeername(fd, at(1), &sizes[1]) == 0 &&
           ends[0].ss_family != AF_UNIX && sizes[0] == sizes[1] &&
           std::memcmp(ends.data(), &ends[1], sizes[0]) == 0;
}

}  // namespace

connector::connector(const std::shared_ptr<asio::io_context>& io, address to, duration limit,
                     outcome told)
    : io_(io),
      to_(std::move(to)),
      limit_(limit),
      end_(after(limit)),
      told_(std::move(told)),
      clock_(*io),
      socket_(*io) {
}

void connector::start() {
    if (const auto io = io_.lock()) asio::post(*io, [self = shared_from_this()] { self->begin(); });
}

void connector::cancel() noexcept {
    std::lock_guard guard{mutex_};
    told_ = nullptr;
    clock_.close();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

void connector::begin() {
    lock held{mutex_};
    if (!told_) return;
    clock_.arm(end_);
    await_clock();
    try {
        if (const auto* local = std::get_if<unix_address>(&to_)) {
            addresses_.emplace_back(asio::local::stream_protocol::endpoint{local->path});
        } else {
            look_up(std::get<tcp_address>(to_));
        }
    } catch (const boost::system::system_error& error) {
        return fail(held, error.code().message());
    } catch (const std::exception& error) {
        return fail(held, error.what());
    }
    if (!addresses_.empty()) try_next(held);
}

void connector::look_up(const tcp_address& which) {
    boost::system::error_code not_numeric;
    const auto numeric = asio::ip::make_address(which.host, not_numeric);
    if (!not_numeric) {
        addresses_.emplace_back(asio::ip::tcp::endpoint{numeric, which.port});
        return;
    }
    const auto io = io_.lock();
    if (!io) return;
    // In the thread that asks; everything may have gone meanwhile.
    auto taker = [kept = std::weak_ptr{io}, weak = weak_from_this()](const name_answer& answer) {
        const auto loop = kept.lock();
        const auto self = loop ? weak.lock() : nullptr;
        if (self) asio::post(*loop, [self, answer] { self->take_answer(answer); });
    };
    asio::use_service<names>(*io).look_up(which, std::move(taker));
}

void connector::take_answer(const name_answer& answer) {
    lock held{mutex_};
    if (!told_) return;
    if (answer.found.empty()) return fail(held, answer.why);
    addresses_ = answer.found;
    try_next(held);
}

void connector::await_clock() {
    clock_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->on_clock();
    });
}

void connector::on_clock() {
    lock held{mutex_};
    if (!told_) return;
    await_clock();
    if (!clock_.take()) return;
    if (boot_clock::now() >= end_) return fail(held, "no answer within " + text(limit_));
    if (!std::exchange(busy_, false)) ++next_;
    try_next(held);
}

void connector::try_next(lock& held) {
    for (; next_ < addresses_.size(); ++next_) {
        ++attempt_;
        const int error = open(addresses_[next_]);
        const auto now = boot_clock::now();
        busy_ = error == EAGAIN;
        if (busy_) return clock_.arm(std::min(end_, now + again_after));
        if (error == 0) {
            const auto untried = static_cast<duration::rep>(addresses_.size() - next_);
            clock_.arm(now + (end_ - now) / untried);
            return await_connected();
        }
        last_error_ = text(error);
    }
    fail(held, last_error_);
}

// Zero if it is under way.
int connector::open(const endpoint& at) {
    boost::system::error_code failed;
    socket_.close(failed);
    const int family = at.protocol().family();
    const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    socket_.assign(fd, failed);
    if (failed) {
        ::close(fd);
        return failed.value();
    }
    if (family != AF_UNIX) {
        set_option(fd, IPPROTO_TCP, TCP_NODELAY);
        set_option(fd, SOL_SOCKET, SO_KEEPALIVE);
    }
    if (::connect(fd, at.data(), static_cast<socklen_t>(at.size())) == 0) return 0;
    return errno == EINPROGRESS || errno == EINTR ? 0 : errno;
}

void connector::await_connected() {
    socket_.async_wait(
        stream_descriptor::wait_write,
        [self = shared_from_this(), attempt = attempt_](const boost::system::error_code& error) {
            if (!error) self->on_connected(attempt);
        });
}

void connector::on_connected(std::size_t attempt) {
    lock held{mutex_};
    if (!told_ || attempt != attempt_) return;
    const int fd = socket_.native_handle();
    int error = pending_error(fd);
    if (error == 0 && met_itself(fd)) error = ECONNREFUSED;
    if (error == 0) return finish(held, std::move(socket_));
    last_error_ = text(error);
    ++next_;
    try_next(held);
}

void connector::fail(lock& held, const std::string& why) {
    const bool named = std::holds_alternative<unix_address>(to_) || !addresses_.empty();
    const std::string what = named ? "cannot connect to " : "cannot look up ";
    finish(held, failure{errc::unavailable, what + to_string(to_) + ": " + why});
}

void connector::finish(lock& held, result<stream_descriptor> with) {
    const auto told = std::exchange(told_, nullptr);
    clock_.close();
    boost::system::error_code ignored;
    socket_.close(ignored);
    held.unlock();
    told(std::move(with));
}

}  // namespace holdfast::runtime
