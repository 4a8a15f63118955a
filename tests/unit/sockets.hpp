// Real sockets on this machine: a server for a stream, and who hears what the stream tells.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "runtime/stream.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {

// The peer's end, blocking.
class peer {
  public:
    explicit peer(int fd) : fd_(fd) {}
    ~peer() { ::close(fd_); }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    // Up to `size` bytes, what is there; empty at the end.
    std::string read(std::size_t size = 64 * 1024) {
        std::string bytes(size, '\0');
        const auto count = ::recv(fd_, bytes.data(), size, 0);
        bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return bytes;
    }
    std::string read_all(std::size_t size) {
        std::string all;
        while (all.size() < size) {
            const auto more = read();
            if (more.empty()) break;
            all += more;
        }
        return all;
    }
    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    // The connection ends with an error, not with an end.
    void reset() {
        const linger none{1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        ::close(std::exchange(fd_, -1));
    }

  private:
    int fd_;
};

class listening {
  public:
    static listening tcp(int backlog = 16, const char* host = "127.0.0.1", int port = 0) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = ::inet_addr(host);
        at.sin_port = htons(static_cast<std::uint16_t>(port));
        return {AF_INET, reinterpret_cast<sockaddr*>(&at), sizeof at, backlog};
    }
    static listening tcp6() {
        sockaddr_in6 at{};
        at.sin6_family = AF_INET6;
        at.sin6_addr = in6addr_loopback;
        return {AF_INET6, reinterpret_cast<sockaddr*>(&at), sizeof at, 16};
    }
    static listening local(const std::string& path, int backlog = 16) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        path.copy(at.sun_path, sizeof at.sun_path - 1);
        return {AF_UNIX, reinterpret_cast<sockaddr*>(&at), sizeof at, backlog};
    }
    ~listening() { close(); }
    listening(const listening&) = delete;
    listening& operator=(const listening&) = delete;

    bool works() const { return works_; }
    std::uint16_t port() const {
        sockaddr_in6 at{};
        socklen_t size = sizeof at;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
        return ntohs(at.sin6_port);  // at the same place as in sockaddr_in
    }
    runtime::tcp_address address() const { return {"127.0.0.1", port()}; }
    bool somebody_waits() const {
        pollfd one{fd_, POLLIN, 0};
        return ::poll(&one, 1, 0) == 1;
    }
    peer accept() {
        pollfd one{fd_, POLLIN, 0};
        EXPECT_EQ(::poll(&one, 1, 20'000), 1);
        return peer{::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)};
    }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

  private:
    listening(int family, const sockaddr* at, socklen_t size, int backlog)
        : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          works_(::bind(fd_, at, size) == 0 && ::listen(fd_, backlog) == 0) {}
    int fd_;
    bool works_;
};

// What a stream told.
class told : public runtime::stream_events {
  public:
    virtual ~told() = default;
    void connected() override {
        enter one{*this};
        EXPECT_FALSE(connected_.is_set());
        connected_.set();
    }
    void received(std::string_view bytes) override {
        enter one{*this};
        EXPECT_TRUE(connected_.is_set());
        std::lock_guard guard{mutex_};
        bytes_ += bytes;
    }
    void closed(failure why) override {
        enter one{*this};
        EXPECT_FALSE(closed_.is_set());
        std::lock_guard guard{mutex_};
        why_ = std::move(why);
        closed_.set();
    }

    bool wait_connected() { return connected_.wait(); }
    bool wait_received(std::size_t size) {
        return eventually([&] { return bytes().size() >= size; });
    }
    bool is_connected() { return connected_.is_set(); }
    bool is_closed() { return closed_.is_set(); }
    std::string bytes() {
        std::lock_guard guard{mutex_};
        return bytes_;
    }
    failure why() {
        EXPECT_TRUE(closed_.wait());
        std::lock_guard guard{mutex_};
        return why_;
    }

  private:
    // Never two at once.
    struct enter {
        explicit enter(told& of) : inside(of.inside_) { EXPECT_FALSE(inside.exchange(true)); }
        ~enter() { inside = false; }
        std::atomic<bool>& inside;
    };
    std::atomic<bool> inside_ = false;
    event_flag connected_;
    event_flag closed_;
    std::mutex mutex_;
    std::string bytes_;
    failure why_;
};

}  // namespace holdfast::tests
