// Names as streams look them up. getaddrinfo is replaced: names that end in ".test" are ours.
#include <dlfcn.h>
#include <netdb.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/loop.hpp"
#include "runtime/stream.hpp"
#include "support/wait.hpp"
#include "unit/sockets.hpp"

namespace {

std::atomic<int> asked{0};
std::atomic<int> answered{0};
std::atomic<bool> hangs{false};

using function = int(const char*, const char*, const addrinfo*, addrinfo**);

int ask_kernel(const char* host, const char* port, const addrinfo* hints, addrinfo** list) {
    static const auto real = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(host, port, hints, list);
}

}  // namespace

extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** list) {
    const std::string name = host;
    if (name == "hangs.test") {
        ++asked;
        holdfast::tests::eventually([] { return !hangs; });
        ++answered;
        return EAI_AGAIN;
    }
    if (name != "two.test") return ask_kernel(host, port, hints, list);
    const int error = ask_kernel("127.0.0.2", port, hints, list);
    return error != 0 ? error : ask_kernel("127.0.0.1", port, hints, &(*list)->ai_next);
}

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using tests::eventually;
using tests::listening;
using tests::told;

class names_test : public testing::Test {
  protected:
    loop events;
    std::shared_ptr<told> heard = std::make_shared<told>();
};

TEST_F(names_test, a_name_of_the_system_is_found) {
    auto server = listening::tcp();
    stream one{events, tcp_address{"localhost", server.port()}, 10s, heard};
    auto other = server.accept();
    one.send("hello");
    EXPECT_EQ(other.read_all(5), "hello");
}

TEST_F(names_test, an_unknown_name_says_so) {
    stream one{events, tcp_address{"nobody.invalid", 1}, 20s, heard};
    const auto why = heard->why();
    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_THAT(why.detail, HasSubstr("cannot look up nobody.invalid:1: "));
}

TEST_F(names_test, an_address_that_refuses_leads_to_the_next) {
    auto server = listening::tcp();
    stream one{events, tcp_address{"two.test", server.port()}, 10s, heard};
    auto other = server.accept();
    EXPECT_TRUE(heard->wait_connected());
}

TEST_F(names_test, an_address_that_does_not_answer_leaves_time_for_the_next) {
    std::unique_ptr<listening> silent;
    std::unique_ptr<listening> server;
    // The same port must be free at both.
    for (int round = 0; round < 100 && (!server || !server->works()); ++round) {
        silent.reset(new listening{listening::tcp(0, "127.0.0.2")});
        server.reset(new listening{listening::tcp(16, "127.0.0.1", silent->port())});
    }
    // Fills its queue.
    std::vector<std::unique_ptr<stream>> fillers;
    for (int i = 0; i < 4; ++i) {
        const auto filler = std::make_shared<told>();
        const tcp_address to{"127.0.0.2", silent->port()};
        fillers.push_back(std::make_unique<stream>(events, to, 100ms, filler));
        EXPECT_TRUE(eventually([&] { return filler->is_connected() || filler->is_closed(); }));
    }
    stream one{events, tcp_address{"two.test", server->port()}, 1s, heard};
    EXPECT_TRUE(heard->wait_connected());
    EXPECT_TRUE(server->somebody_waits());
}

TEST_F(names_test, a_look_up_that_hangs_holds_nothing_up) {
    hangs = true;
    asked = answered = 0;
    const auto start = boot_clock::now();
    {
        loop brief;
        const tcp_address to{"hangs.test", 1};
        stream first{brief, to, 50ms, heard};
        EXPECT_EQ(heard->why().detail, "cannot look up hangs.test:1: no answer within 50 ms");
        // Who asks again meanwhile shares the answer.
        const auto heard_too = std::make_shared<told>();
        stream second{brief, to, 50ms, heard_too};
        EXPECT_THAT(heard_too->why().detail, HasSubstr("no answer within 50 ms"));
        stream third{brief, to, 1h, {}};
        EXPECT_TRUE(eventually([] { return asked == 1; }));
        // Other names are not held up.
        auto server = listening::tcp();
        const auto connected = std::make_shared<told>();
        stream fourth{brief, tcp_address{"localhost", server.port()}, 10s, connected};
        EXPECT_TRUE(connected->wait_connected());
    }
    EXPECT_LT(boot_clock::now() - start, 10s);
    EXPECT_EQ(answered, 0) << "neither streams nor loop waited for it";
    hangs = false;
    EXPECT_TRUE(eventually([] { return answered == 1; }));
    EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace holdfast::runtime
