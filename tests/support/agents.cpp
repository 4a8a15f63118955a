#include "support/agents.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "support/wait.hpp"

namespace holdfast::tests {

stage::stage() {
    std::string pattern = std::filesystem::temp_directory_path() / "holdfast-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

stage::~stage() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

agent_process::agent_process(const stage& on, duration ttl, const std::string& preload) {
    int to[2];
    int from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
        throw std::runtime_error("pipe");
    }
    const std::string log = on.log();
    const std::string number = on.number();
    std::vector<std::string> added;
    // A sanitizer wants to be the first library, and finds its way as the second.
    if (!preload.empty())
        added = {"LD_PRELOAD=" + preload, "ASAN_OPTIONS=verify_asan_link_order=0"};
    std::vector<char*> environment;
    for (std::string& each : added) environment.push_back(each.data());
    for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
    environment.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(to[0], 0);
        ::dup2(from[1], 1);
        ::execle(HOLDFAST_TEST_AGENT, "agent", log.c_str(), number.c_str(), nullptr,
                 environment.data());
        ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(ttl).count();
    if (!hear("ready") || !does("open " + on.url() + " " + std::to_string(ms), "opened")) {
        throw std::runtime_error("an agent does not start");
    }
}

agent_process::~agent_process() {
    ::close(to_);
    ::close(from_);
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void agent_process::tell(const std::string& command) const {
    const std::string line = command + "\n";
    if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::runtime_error("an agent does not listen");
    }
}

bool agent_process::read_more(time_point end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - boot_clock::now());
    pollfd ready{from_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
    char buffer[4096];
    const ssize_t got = ::read(from_, buffer, sizeof buffer);
    if (got <= 0) return false;
    rest_.append(buffer, static_cast<std::size_t>(got));
    for (auto at = rest_.find('\n'); at != std::string::npos; at = rest_.find('\n')) {
        heard_.push_back(rest_.substr(0, at));
        rest_.erase(0, at + 1);
    }
    return true;
}

std::optional<std::string> agent_process::hear(const std::string& start, duration limit) {
    const auto end = boot_clock::now() + limit;
    do {
        const auto found = std::ranges::find_if(
            heard_, [&](const std::string& line) { return line.starts_with(start); });
        if (found != heard_.end()) {
            auto rest = found->substr(start.size());
            heard_.erase(found);
            return rest;
        }
    } while (read_more(end));
    return {};
}

bool agent_process::does(const std::string& command, const std::string& answer, duration limit) {
    tell(command);
    return hear(answer, limit).has_value();
}

void agent_process::send(int signal) const {
    ::kill(pid_, signal);
}

std::optional<int> agent_process::end(duration limit) {
    int status = 0;
    if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, limit)) return {};
    pid_ = -1;
    return status;
}

}  // namespace holdfast::tests
