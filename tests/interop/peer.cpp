#include "interop/peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <system_error>

namespace holdfast::tests {
namespace {

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    return ends;
}

}  // namespace

peer::peer(const std::vector<std::string>& command) {
    const auto input = make_pipe();
    const auto output = make_pipe();
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(input[0], STDIN_FILENO);
        ::dup2(output[1], STDOUT_FILENO);
        ::execvp(words[0], words.data());
        ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    to_ = input[1];
    from_ = output[0];
    if (const auto said = answer(); said != "ready") {
        throw std::runtime_error(command.front() + " says '" + said + "' instead of 'ready'");
    }
}

peer::~peer() {
    kill();
    ::close(to_);
    ::close(from_);
}

void peer::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void peer::begin(const std::string& command) {
    asked_ = command;
    const std::string line = command + "\n";
    if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::runtime_error("the peer takes no command: " + command);
    }
}

std::string peer::answer(duration limit) {
    const auto end = boot_clock::now() + limit;
    for (;;) {
        if (const auto newline = heard_.find('\n'); newline != std::string::npos) {
            auto line = heard_.substr(0, newline);
            heard_.erase(0, newline + 1);
            return line;
        }
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - boot_clock::now()).count();
        pollfd one{from_, POLLIN, 0};
        if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) == 0) {
            throw std::runtime_error("the peer does not answer in time: " + asked_);
        }
        std::array<char, 4096> bytes{};
        const auto count = ::read(from_, bytes.data(), bytes.size());
        if (count <= 0) throw std::runtime_error("the peer has ended: " + asked_);
        heard_.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace holdfast::tests
