#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/loop.hpp"
#include "runtime/timer.hpp"
#include "support/wait.hpp"
#include "unit/sockets.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using tests::event_flag;
using tests::eventually;
using tests::listening;
using tests::told;

class stream_test : public testing::Test {
  protected:
    loop events;
    std::shared_ptr<told> heard = std::make_shared<told>();

    static std::string directory() {
        std::string path = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        EXPECT_NE(::mkdtemp(path.data()), nullptr);
        return path;
    }
    struct place {
        const std::string path = directory();
        ~place() { std::filesystem::remove_all(path); }
    };
};

TEST_F(stream_test, says_what_it_receives_over_tcp) {
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    auto other = server.accept();
    EXPECT_TRUE(heard->wait_connected());
    one.send("hello");
    EXPECT_EQ(other.read_all(5), "hello");
    other.write("world");
    EXPECT_TRUE(heard->wait_received(5));
    EXPECT_EQ(heard->bytes(), "world");
    EXPECT_EQ(one.unsent(), 0U);
}

TEST_F(stream_test, says_what_it_receives_over_ipv6) {
    auto server = listening::tcp6();
    if (!server.works()) GTEST_SKIP() << "no IPv6 on this machine";
    stream one{events, tcp_address{"::1", server.port()}, 10s, heard};
    auto other = server.accept();
    other.write("six");
    EXPECT_TRUE(heard->wait_received(3));
}

TEST_F(stream_test, says_what_it_receives_over_a_unix_socket) {
    const place at;
    auto server = listening::local(at.path + "/socket");
    stream one{events, unix_address{at.path + "/socket"}, 10s, heard};
    auto other = server.accept();
    one.send("hello");
    EXPECT_EQ(other.read_all(5), "hello");
    other.write("world");
    EXPECT_TRUE(heard->wait_received(5));
}

TEST_F(stream_test, a_blocked_caller_serves_it) {
    auto server = listening::tcp();
    signal done;
    struct answering : told {
        loop& events;
        signal& done;
        stream* one = nullptr;
        answering(loop& in, signal& end) : events(in), done(end) {}
        void received(std::string_view bytes) override {
            told::received(bytes);
            one->send("thanks");  // from an event
            events.set(done);
        }
    };
    const auto listener = std::make_shared<answering>(events, done);
    stream one{events, server.address(), 10s, listener};
    listener->one = &one;
    auto other = server.accept();
    other.write("x");
    EXPECT_TRUE(events.wait(done, boot_clock::now() + 10s));
    EXPECT_EQ(other.read_all(6), "thanks");
}

TEST_F(stream_test, what_is_sent_before_it_is_connected_arrives_in_order) {
    auto server = listening::tcp();
    std::string all;
    event_flag go_on;
    events.post([&] { go_on.wait(); });  // meanwhile it cannot connect
    stream one{events, server.address(), 10s, heard};
    for (int i = 0; i < 1000; ++i) {
        const auto line = std::to_string(i) + "\n";
        one.send(line);
        all += line;
    }
    EXPECT_EQ(one.unsent(), all.size());
    go_on.set();
    auto other = server.accept();
    EXPECT_EQ(other.read_all(all.size()), all);
    EXPECT_TRUE(eventually([&] { return one.unsent() == 0; }));
}

TEST_F(stream_test, a_slow_reader_gets_everything) {
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    auto other = server.accept();
    EXPECT_TRUE(heard->wait_connected());
    std::string all(std::size_t{8} << 20U, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7919 >> 8U);
    one.send(all);
    EXPECT_GT(one.unsent(), 0U) << "more than the kernel takes";
    one.send("end");
    EXPECT_EQ(other.read_all(all.size() + 3), all + "end");
    EXPECT_TRUE(eventually([&] { return one.unsent() == 0; }));
}

TEST_F(stream_test, receives_more_than_its_buffer_takes) {
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    auto other = server.accept();
    std::string all(std::size_t{3} << 20U, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7919 >> 8U);
    other.write(all);
    EXPECT_TRUE(heard->wait_received(all.size()));
    EXPECT_EQ(heard->bytes(), all);
}

TEST_F(stream_test, messages_of_many_threads_stay_whole) {
    constexpr int threads = 8;
    constexpr int messages = 500;
    constexpr std::size_t size = 1000;
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    std::vector<std::jthread> senders;
    for (int thread = 0; thread < threads; ++thread) {
        senders.emplace_back([&one, thread] {
            const std::string message(size, static_cast<char>('a' + thread));
            for (int i = 0; i < messages; ++i) one.send(message);
        });
    }
    auto other = server.accept();
    const auto all = other.read_all(size * threads * messages);
    ASSERT_EQ(all.size(), size * threads * messages);
    for (std::size_t at = 0; at < all.size(); at += size) {
        ASSERT_EQ(all.substr(at, size), std::string(size, all[at]));
    }
}

TEST_F(stream_test, a_refused_connection_says_so) {
    auto server = listening::tcp();
    const auto at = server.address();
    server.close();
    stream one{events, at, 10s, heard};
    one.send("to nobody");
    const auto why = heard->why();
    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_EQ(why.detail, "cannot connect to " + to_string(at) + ": Connection refused");
    EXPECT_FALSE(heard->is_connected());
    EXPECT_EQ(one.unsent(), 0U);
    one.send("afterwards");
    EXPECT_EQ(one.unsent(), 0U);
}

TEST_F(stream_test, a_socket_that_is_not_there_says_so) {
    stream one{events, unix_address{"/nonexistent/socket"}, 10s, heard};
    EXPECT_EQ(heard->why().detail,
              "cannot connect to /nonexistent/socket: No such file or directory");
    const auto heard_too = std::make_shared<told>();
    stream two{events, unix_address{std::string(200, 'x')}, 10s, heard_too};
    EXPECT_THAT(heard_too->why().detail, HasSubstr("xxx: File name too long"));
}

TEST_F(stream_test, one_that_does_not_answer_is_given_up_at_the_limit) {
    auto server = listening::tcp(0);
    // Until its queue is full, further ones get no answer.
    std::vector<std::shared_ptr<told>> all;
    std::vector<std::unique_ptr<stream>> streams;
    for (int i = 0; i < 4; ++i) {
        all.push_back(std::make_shared<told>());
        streams.push_back(std::make_unique<stream>(events, server.address(), 100ms, all.back()));
        EXPECT_TRUE(eventually([&] { return all[i]->is_connected() || all[i]->is_closed(); }));
    }
    EXPECT_EQ(all.back()->why().detail,
              "cannot connect to " + to_string(server.address()) + ": no answer within 100 ms");
}

TEST_F(stream_test, a_unix_socket_without_a_place_is_asked_again) {
    const place at;
    auto server = listening::local(at.path + "/socket", 0);
    const unix_address to{at.path + "/socket"};
    stream first{events, to, 10s, heard};
    EXPECT_TRUE(heard->wait_connected());
    const auto second_heard = std::make_shared<told>();
    stream second{events, to, 1s, second_heard};
    const auto third_heard = std::make_shared<told>();
    stream third{events, to, 10s, third_heard};
    EXPECT_EQ(second_heard->why().detail,
              "cannot connect to " + to.path + ": no answer within 1 s");
    EXPECT_FALSE(third_heard->is_connected());
    auto other = server.accept();
    EXPECT_TRUE(third_heard->wait_connected());
}

TEST_F(stream_test, a_limit_of_nothing_has_passed) {
    for (const duration limit : {duration{0}, duration{-1s}}) {
        const auto listener = std::make_shared<told>();
        stream one{events, tcp_address{"192.0.2.1", 1}, limit, listener};  // nobody is there
        EXPECT_EQ(listener->why().code, errc::unavailable);
    }
}

TEST_F(stream_test, an_unlimited_attempt_connects) {
    auto server = listening::tcp();
    stream one{events, server.address(), forever, heard};
    EXPECT_TRUE(heard->wait_connected());
}

TEST_F(stream_test, the_peer_may_close_after_its_last_words) {
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    server.accept().write("last words");
    const auto why = heard->why();
    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_EQ(why.detail, "the peer closed the connection to " + to_string(server.address()));
    EXPECT_EQ(heard->bytes(), "last words");
}

TEST_F(stream_test, a_broken_connection_says_so_also_to_who_only_sends) {
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    EXPECT_TRUE(heard->wait_connected());
    server.accept().reset();
    EXPECT_TRUE(eventually([&] {
        one.send("more");
        return heard->is_closed();
    }));
    EXPECT_THAT(heard->why().detail, HasSubstr(to_string(server.address())));
    EXPECT_EQ(one.unsent(), 0U);
}

TEST_F(stream_test, a_refused_write_neither_raises_a_signal_nor_loses_last_words) {
    const place at;
    auto server = listening::local(at.path + "/socket");
    stream one{events, unix_address{at.path + "/socket"}, 10s, heard};
    EXPECT_TRUE(heard->wait_connected());
    event_flag go_on;
    event_flag blocked;
    events.post([&] {
        blocked.set();
        go_on.wait();  // meanwhile nothing is read
    });
    EXPECT_TRUE(blocked.wait());
    server.accept().write("last words");
    one.send("too late");
    go_on.set();
    EXPECT_THAT(heard->why().detail, HasSubstr("Broken pipe"));
    EXPECT_EQ(heard->bytes(), "last words");
}

TEST_F(stream_test, nothing_is_told_after_it_is_destroyed) {
    auto server = listening::tcp();
    auto one = std::make_unique<stream>(events, server.address(), 10s, heard);
    auto other = server.accept();
    EXPECT_TRUE(heard->wait_connected());
    one.reset();
    other.write("anybody?");
    EXPECT_EQ(other.read(), "");
    event_flag later;
    events.post([&] { later.set(); });
    EXPECT_TRUE(later.wait());
    EXPECT_EQ(heard->bytes(), "");
    EXPECT_FALSE(heard->is_closed());
}

TEST_F(stream_test, may_be_destroyed_while_it_connects) {
    auto server = listening::tcp();
    for (int i = 0; i < 50; ++i) {
        std::vector<std::shared_ptr<told>> all;
        for (int one = 0; one < 3; ++one) all.push_back(std::make_shared<told>());
        stream early{events, server.address(), 10s, all[0]};
        stream no_answer{events, tcp_address{"192.0.2.1", 1}, 10s, all[1]};
        stream looking{events, tcp_address{"localhost", server.port()}, 10s, all[2]};
        if (i % 2 == 0) early.close();
        if (i % 3 == 0) early.send("dropped");
    }
}

TEST_F(stream_test, may_be_destroyed_in_its_own_event) {
    struct closing : told {
        std::unique_ptr<stream> one;
        event_flag gone;
        void received(std::string_view bytes) override {
            told::received(bytes);
            one.reset();
            gone.set();
        }
    };
    auto server = listening::tcp();
    const auto listener = std::make_shared<closing>();
    event_flag made;
    events.post([&] {
        listener->one = std::make_unique<stream>(events, server.address(), 10s, listener);
        made.set();
    });
    EXPECT_TRUE(made.wait());
    auto other = server.accept();
    other.write(std::string(100'000, 'x'));
    EXPECT_TRUE(listener->gone.wait());
    EXPECT_LE(listener->bytes().size(), 16U * 1024);
    EXPECT_FALSE(listener->is_closed());
}

TEST_F(stream_test, without_a_listener_it_goes_on_quietly) {
    auto server = listening::tcp();
    stream one{events, server.address(), 10s, heard};
    EXPECT_TRUE(heard->wait_connected());
    heard = nullptr;
    auto other = server.accept();
    other.write(std::string(100'000, 'x'));
    one.send("still here");
    EXPECT_EQ(other.read_all(10), "still here");
}

TEST_F(stream_test, may_outlive_its_loop) {
    auto server = listening::tcp();
    auto brief = std::make_unique<loop>();
    stream one{*brief, server.address(), 10s, heard};
    stream looking{*brief, tcp_address{"localhost", server.port()}, 10s, {}};
    timer late{*brief, [] {}};
    brief.reset();
    one.send("nothing");
    late.set(boot_clock::now());
}

TEST_F(stream_test, an_event_that_throws_is_survived) {
    struct throwing : told {
        void connected() override {
            told::connected();
            throw std::runtime_error("thrown in an event");
        }
    };
    auto server = listening::tcp();
    const auto listener = std::make_shared<throwing>();
    stream one{events, server.address(), 10s, listener};
    auto other = server.accept();
    other.write("x");
    EXPECT_TRUE(listener->wait_received(1));
}

TEST(stream, names_addresses_for_people) {
    EXPECT_EQ(to_string(tcp_address{"localhost", 6379}), "localhost:6379");
    EXPECT_EQ(to_string(tcp_address{"::1", 6379}), "[::1]:6379");
    EXPECT_EQ(to_string(unix_address{"/run/redis.sock"}), "/run/redis.sock");
}

}  // namespace
}  // namespace holdfast::runtime
