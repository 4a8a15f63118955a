// A real redis-server for one test, so that tests run side by side and may kill theirs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::tests {

/// A real redis-server of the test's own, on a Unix socket in a folder of its own and on a TCP port
/// of its own. Throws if redis-server is missing or does not come up.
///
/// It dies with the thread that started it last, so start it in one that lives as long. One thread
/// at a time may use it; ask() may be called from any at any time.
class redis_server {
  public:
    struct options {
        /// Whether what was answered outlives a kill: appendonly yes, appendfsync always.
        bool keeps_data = true;
        /// More words for its command line: {"--hz", "100"}.
        std::vector<std::string> more{};
    };

    redis_server() : redis_server{options{}} {}
    explicit redis_server(options how);
    /// Kills it, and removes the folder.
    ~redis_server();
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    /// redis+unix:///path/redis.sock
    std::string url() const { return "redis+unix://" + socket_; }
    /// redis://127.0.0.1:PORT
    std::string tcp_url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    const std::string& socket() const noexcept { return socket_; }
    std::uint16_t port() const noexcept { return port_; }

    /// SIGTERM, and waits for the end. Nothing if it has ended.
    void stop();
    /// SIGKILL, and waits for the end. Nothing if it has ended.
    void kill();
    /// SIGSTOP: alive, its sockets open, and no answer. Waits until it stands still.
    void pause();
    void resume();
    /// Again after stop() or kill(), with the same data, socket and port. Waits until it answers.
    void start();

    /// One command on a connection of its own. The reply as text: a status, string or number as it
    /// is, nil as "", the elements of an array joined by '\n'. Throws on an error reply, and if
    /// there is no answer in time.
    std::string ask(std::initializer_list<std::string_view> words,
                    duration limit = std::chrono::seconds{2}) const;

  private:
    struct folder_made {};
    redis_server(options how, folder_made);
    void reserve_port();
    std::vector<std::string> command_line() const;
    void spawn();
    bool has_ended();
    bool answers() const;
    std::string end_of_log() const;

    options how_;
    std::string folder_;
    std::string socket_;
    int reserved_ = -1;
    std::uint16_t port_ = 0;
    pid_t pid_ = -1;
};

}  // namespace holdfast::tests
