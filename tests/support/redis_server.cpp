#include "support/redis_server.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <hiredis/hiredis.h>

#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

constexpr std::string_view socket_name = "/redis.sock";

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::string make_folder() {
    const std::string name = "holdfast-XXXXXX";
    std::string pattern = std::filesystem::temp_directory_path() / name;
    // Neither redis-server nor hiredis says so when it cuts off the end of a socket's path.
    if (pattern.size() + socket_name.size() >= sizeof(sockaddr_un::sun_path)) {
        pattern = "/tmp/" + name;
    }
    if (::mkdtemp(pattern.data()) == nullptr) fail("mkdtemp");
    return pattern;
}

/// hiredis writes to sockets whose other side may just have been killed.
class without_sigpipe {
  public:
    without_sigpipe() {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~without_sigpipe() {
        const timespec at_once{};
        while (::sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    without_sigpipe(const without_sigpipe&) = delete;
    without_sigpipe& operator=(const without_sigpipe&) = delete;

  private:
    sigset_t pipe_;
    sigset_t before_;
};

timeval to_timeval(duration time) {
    const auto us = std::chrono::ceil<std::chrono::microseconds>(time).count();
    return {.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
}

std::string text_of(const redisReply& reply) {
    switch (reply.type) {
        case REDIS_REPLY_NIL:
            return "";
        case REDIS_REPLY_INTEGER:
            return std::to_string(reply.integer);
        case REDIS_REPLY_ERROR:
            throw std::runtime_error(std::string{reply.str, reply.len});
        case REDIS_REPLY_ARRAY: {
            std::string all;
            for (std::size_t i = 0; i < reply.elements; ++i) {
                if (i > 0) all += '\n';
                all += text_of(*reply.element[i]);
            }
            return all;
        }
        default:
            return {reply.str, reply.len};
    }
}

/// What happens between fork and exec: only what is allowed there.
[[noreturn]] void become(char* const* arguments, int log, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before that.
    if (::getppid() != parent) ::_exit(0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    // hiredis marks none of its sockets: another server must not keep them open.
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    ::execvp(arguments[0], arguments);
    constexpr std::string_view reason = "redis-server cannot be executed. Is it installed?\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, reason.data(), reason.size());
    ::_exit(127);
}

}  // namespace

redis_server::redis_server(options how) : redis_server(std::move(how), folder_made{}) {
    // From here on the destructor cleans up, also if one of these throws.
    reserve_port();
    start();
}

redis_server::redis_server(options how, folder_made)
    : how_(std::move(how)), folder_(make_folder()), socket_(folder_ + std::string{socket_name}) {
}

redis_server::~redis_server() {
    kill();
    if (reserved_ >= 0) ::close(reserved_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

// A socket that has the port, and never listens, keeps everybody else away from it, also while the
// server is down. Only one that says SO_REUSEADDR, as redis-server does, may listen beside it.
void redis_server::reserve_port() {
    reserved_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (reserved_ < 0) fail("socket");
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::setsockopt(reserved_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(reserved_, any, size) != 0 || ::getsockname(reserved_, any, &size) != 0) {
        fail("a TCP port");
    }
    port_ = ntohs(address.sin_port);
}

std::vector<std::string> redis_server::command_line() const {
    std::vector<std::string> words{"redis-server", "--dir",  folder_,
                                   "--unixsocket", socket_,  "--bind",
                                   "127.0.0.1",    "--port", std::to_string(port_),
                                   "--save",       ""};
    if (how_.keeps_data) {
        for (const char* word : {"--appendonly", "yes", "--appendfsync", "always"}) {
            words.emplace_back(word);
        }
    }
    words.insert(words.end(), how_.more.begin(), how_.more.end());
    return words;
}

void redis_server::start() {
    if (pid_ > 0 && !has_ended()) throw std::logic_error("redis-server runs already");
    spawn();
    const bool up =
        eventually([this] { return has_ended() || answers(); }, std::chrono::seconds{10});
    if (up && pid_ > 0) return;
    const std::string log = end_of_log();
    kill();
    throw std::runtime_error("redis-server does not come up: " + log);
}

void redis_server::spawn() {
    auto words = command_line();
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string path = folder_ + "/log";
    const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) fail("the log");
    const pid_t self = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(arguments.data(), log, self);
    ::close(log);
    if (pid_ < 0) fail("fork");
}

bool redis_server::has_ended() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ < 0;
}

// While it loads its data it answers every command with an error.
bool redis_server::answers() const {
    try {
        return ask({"PING"}) == "PONG";
    } catch (const std::runtime_error&) {
        return false;
    }
}

std::string redis_server::end_of_log() const {
    std::ifstream file{folder_ + "/log"};
    std::string all{std::istreambuf_iterator<char>{file}, {}};
    constexpr std::size_t enough = 2000;
    return all.size() > enough ? all.substr(all.size() - enough) : all;
}

void redis_server::stop() {
    if (has_ended()) return;
    ::kill(pid_, SIGTERM);
    if (!eventually([this] { return has_ended(); }, std::chrono::seconds{10})) {
        throw std::runtime_error("redis-server does not end: " + end_of_log());
    }
}

void redis_server::kill() {
    if (has_ended()) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

void redis_server::pause() {
    if (has_ended()) throw std::logic_error("redis-server does not run");
    ::kill(pid_, SIGSTOP);
    siginfo_t about{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &about, WSTOPPED | WEXITED | WNOWAIT) < 0) {
        if (errno != EINTR) fail("waitid");
    }
}

void redis_server::resume() {
    if (has_ended()) throw std::logic_error("redis-server does not run");
    ::kill(pid_, SIGCONT);
}

std::string redis_server::ask(std::initializer_list<std::string_view> words, duration limit) const {
    const without_sigpipe guard;
    const auto time = to_timeval(limit);
    const std::unique_ptr<redisContext, decltype(&::redisFree)> connection{
        ::redisConnectUnixWithTimeout(socket_.c_str(), time), ::redisFree};
    if (!connection) throw std::bad_alloc();
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const auto word : words) {
        starts.push_back(word.data());
        sizes.push_back(word.size());
    }
    if (connection->err == 0) ::redisSetTimeout(connection.get(), time);
    void* const got = connection->err != 0
                          ? nullptr
                          : ::redisCommandArgv(connection.get(), static_cast<int>(words.size()),
                                               starts.data(), sizes.data());
    const std::unique_ptr<void, decltype(&::freeReplyObject)> reply{got, ::freeReplyObject};
    if (!reply) throw std::runtime_error(std::string{"redis-server: "} + connection->errstr);
    return text_of(*static_cast<const redisReply*>(got));
}

}  // namespace holdfast::tests
