// The redis-server that tests of the Redis store have for themselves.
#include "support/redis_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

bool somebody_listens(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool connected =
        ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
}

TEST(redis_server, answers_once_it_is_made) {
    redis_server server;
    EXPECT_EQ(server.ask({"PING"}), "PONG");
    EXPECT_TRUE(somebody_listens(server.port()));
    EXPECT_EQ(server.url(), "redis+unix://" + server.socket());
    EXPECT_EQ(server.tcp_url(), "redis://127.0.0.1:" + std::to_string(server.port()));
}

TEST(redis_server, replies_are_text) {
    redis_server server{{.keeps_data = false}};
    EXPECT_EQ(server.ask({"SET", "key", "a value"}), "OK");
    EXPECT_EQ(server.ask({"GET", "key"}), "a value");
    EXPECT_EQ(server.ask({"GET", "none"}), "");
    EXPECT_EQ(server.ask({"INCR", "number"}), "1");
    EXPECT_EQ(server.ask({"RPUSH", "list", "a", "", std::string_view{"\0c", 2}}), "3");
    EXPECT_EQ(server.ask({"LRANGE", "list", "0", "-1"}), std::string("a\n\n\0c", 5));
    EXPECT_THAT(
        [&] {
            server.ask({"INCR", "key"});
        },
        ThrowsMessage<std::runtime_error>(StartsWith("ERR")));
}

TEST(redis_server, keeps_its_data_and_addresses_when_it_is_killed) {
    redis_server server;
    const auto before = server.tcp_url();
    server.ask({"SET", "key", "value"});
    server.kill();
    EXPECT_FALSE(somebody_listens(server.port()));
    EXPECT_THROW(server.ask({"PING"}), std::runtime_error);
    server.start();
    EXPECT_EQ(server.ask({"GET", "key"}), "value");
    EXPECT_EQ(server.tcp_url(), before);
    EXPECT_TRUE(somebody_listens(server.port()));
}

TEST(redis_server, keeps_its_data_when_it_is_stopped) {
    redis_server server;
    server.ask({"SET", "key", "value"});
    server.stop();
    server.stop();
    EXPECT_THROW(server.ask({"PING"}), std::runtime_error);
    server.start();
    EXPECT_EQ(server.ask({"GET", "key"}), "value");
}

TEST(redis_server, forgets_when_it_is_told_to_keep_nothing) {
    redis_server server{{.keeps_data = false}};
    server.ask({"SET", "key", "value"});
    server.kill();
    server.start();
    EXPECT_EQ(server.ask({"GET", "key"}), "");
}

TEST(redis_server, does_not_answer_while_it_is_paused) {
    redis_server server;
    server.pause();
    EXPECT_TRUE(somebody_listens(server.port()));
    EXPECT_THROW(server.ask({"PING"}, 50ms), std::runtime_error);
    server.resume();
    EXPECT_EQ(server.ask({"PING"}), "PONG");
}

TEST(redis_server, is_killed_while_it_is_paused) {
    redis_server server;
    server.ask({"SET", "key", "value"});
    server.pause();
    server.kill();
    server.start();
    EXPECT_EQ(server.ask({"GET", "key"}), "value");
}

TEST(redis_server, several_do_not_meet) {
    redis_server one;
    redis_server other{{.keeps_data = false}};
    EXPECT_NE(one.port(), other.port());
    one.ask({"SET", "key", "value"});
    EXPECT_EQ(other.ask({"GET", "key"}), "");
}

TEST(redis_server, takes_more_options) {
    redis_server server{{.more = {"--hz", "100"}}};
    EXPECT_EQ(server.ask({"CONFIG", "GET", "hz"}), "hz\n100");
}

TEST(redis_server, that_does_not_come_up_says_why) {
    EXPECT_THAT(
        [] {
            redis_server server({.more = {"--no-such-option", "1"}});
        },
        ThrowsMessage<std::runtime_error>(HasSubstr("no-such-option")));
}

TEST(redis_server, leaves_no_folder_behind) {
    std::filesystem::path folder;
    {
        redis_server server;
        folder = std::filesystem::path{server.socket()}.parent_path();
        EXPECT_TRUE(std::filesystem::exists(folder));
    }
    EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(redis_server, dies_with_the_test) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const auto body = [&]() noexcept {
        redis_server server;
        std::array<char, 200> line{};
        server.socket().copy(line.data(), line.size() - 1);
        const auto port = server.port();
        if (::write(pipe[1], &port, sizeof port) < 0) ::_exit(1);
        if (::write(pipe[1], line.data(), line.size()) < 0) ::_exit(1);
        for (;;) ::pause();
    };
    const pid_t child = ::fork();
    if (child == 0) body();
    ::close(pipe[1]);
    std::uint16_t port = 0;
    std::array<char, 200> line{};
    ASSERT_EQ(::read(pipe[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    ASSERT_EQ(::read(pipe[0], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    ::close(pipe[0]);
    EXPECT_TRUE(somebody_listens(port));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(eventually([&] { return !somebody_listens(port); }));
    std::filesystem::remove_all(std::filesystem::path{line.data()}.parent_path());
}

}  // namespace
}  // namespace holdfast::tests
