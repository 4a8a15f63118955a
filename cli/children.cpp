#include "children.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "descriptor.hpp"

namespace holdfast::cli {

bool kill_children() noexcept {
    const descriptor list{::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC)};
    if (!list) return false;
    // Decimal pids with a blank after each. The kernel gives whole ones in each read, but a pid may
    // be cut where the buffer ends, so digits are gathered across reads.
    std::array<char, 4096> text{};
    pid_t pid = 0;
    ssize_t length = 0;
    while ((length = ::read(list.number(), text.data(), text.size())) > 0) {
        for (ssize_t i = 0; i < length; ++i) {
            const char c = text[static_cast<std::size_t>(i)];
            if (c >= '0' && c <= '9') {
                pid = pid * 10 + (c - '0');
            } else if (pid > 0) {
                ::kill(pid, SIGKILL);
                pid = 0;
            }
        }
    }
    return length == 0;
}

}  // namespace holdfast::cli
