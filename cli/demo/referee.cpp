#include "referee.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "../descriptor.hpp"
#include "../output.hpp"
#include "../signals.hpp"

namespace holdfast::cli::demo {
namespace {

/// A worker that says nothing for longer hangs.
constexpr std::chrono::seconds answer_within{90};
constexpr std::size_t line_bytes_max = 4U << 20U;

[[noreturn]] void fail(const char* what, int error = errno) {
    throw std::system_error(error, std::generic_category(), what);
}

sigset_t ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
        if (!is_ignored(each)) ::sigaddset(&set, each);
    }
    return set;
}

struct pipe_ends {
    descriptor reading;
    descriptor writing;
};

pipe_ends make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
    return {descriptor{ends[0]}, descriptor{ends[1]}};
}

/// What a child gets: the two pipes as standard input and output, and no blocked signal.
class spawn_settings {
  public:
    spawn_settings(int input, int output) {
        ::posix_spawn_file_actions_init(&files_);
        ::posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
        ::posix_spawnattr_init(&attributes_);
        sigset_t none;
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    spawn_settings(const spawn_settings&) = delete;
    spawn_settings& operator=(const spawn_settings&) = delete;
    ~spawn_settings() {
        ::posix_spawn_file_actions_destroy(&files_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    const posix_spawn_file_actions_t* files() const noexcept { return &files_; }
    const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }

  private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

/// One worker process; ended by the destructor if it still runs.
class worker {
  public:
    worker(const orders& what, const interruptions& by_user) : by_user_(by_user) {
        pipe_ends input = make_pipe();
        pipe_ends output = make_pipe();
        const spawn_settings settings{input.reading.number(), output.writing.number()};
        std::string program = "holdfast-demo";
        std::string role = "oversell-worker";
        std::array<char*, 3> words{program.data(), role.data(), nullptr};
        const int error = ::posix_spawn(&pid_, "/proc/self/exe", settings.files(),
                                        settings.attributes(), words.data(), environ);
        if (error != 0) fail("cannot start a worker process", error);
        to_ = std::move(input.writing);
        from_ = std::move(output.reading);
        tell(to_line(what));
    }
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    void tell(std::string_view line) { write_all(to_.number(), line); }

    std::string answer() {
        const time_point until = boot_clock::now() + answer_within;
        while (true) {
            const std::size_t end = heard_.find('\n');
            if (end != std::string::npos) {
                std::string line = heard_.substr(0, end);
                heard_.erase(0, end + 1);
                return line;
            }
            hear(until);
        }
    }

  private:
    void hear(time_point until) {
        std::array<pollfd, 2> wanted{
            {{from_.number(), POLLIN, 0}, {by_user_.descriptor_number(), POLLIN, 0}}};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - boot_clock::now());
        if (left.count() <= 0) throw std::runtime_error("a worker process hangs");
        if (::poll(wanted.data(), wanted.size(), static_cast<int>(left.count())) < 0) {
            if (errno != EINTR) fail("poll");
            return;
        }
        by_user_.check();
        if (wanted[0].revents == 0) return;
        std::array<char, 4096> bytes{};
        const ssize_t length = ::read(from_.number(), bytes.data(), bytes.size());
        if (length < 0 && errno != EINTR) fail("read");
        if (length == 0) end_early();
        if (length > 0) heard_.append(bytes.data(), static_cast<std::size_t>(length));
        if (heard_.size() > line_bytes_max) {
            throw std::runtime_error("a worker process talks too much");
        }
    }

    [[noreturn]] void end_early() {
        int status = 0;
        ::kill(pid_, SIGKILL);
        ::waitpid(std::exchange(pid_, -1), &status, 0);
        throw std::runtime_error(
            fmt::format("a worker process ended early (wait status {:#x})", status));
    }

    const interruptions& by_user_;
    pid_t pid_ = -1;
    descriptor to_;
    descriptor from_;
    std::string heard_;
};

}  // namespace

interruptions::interruptions() {
    // A worker that died shows at the other pipe.
    ::signal(SIGPIPE, SIG_IGN);
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    inbox_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (inbox_ < 0) fail("signalfd");
}

interruptions::~interruptions() {
    ::close(inbox_);
}

void interruptions::check() const {
    signalfd_siginfo info{};
    if (::read(inbox_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        throw interrupted{static_cast<int>(info.ssi_signo)};
    }
}

teamwork run_team(std::span<const orders> all, const interruptions& by_user) {
    std::vector<std::unique_ptr<worker>> workers;
    for (const orders& each : all) workers.push_back(std::make_unique<worker>(each, by_user));
    teamwork out;
    for (const auto& each : workers) out.store = read_readiness(each->answer());
    // Both are at the barrier now, their threads started and their connections open.
    out.started = boot_clock::now();
    for (const auto& each : workers) each->tell("go\n");
    for (const auto& each : workers) {
        for (action& done : read_actions(each->answer())) out.actions.push_back(std::move(done));
    }
    out.ended = boot_clock::now();
    return out;
}

}  // namespace holdfast::cli::demo
