#include "output.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {

bool write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void print(std::string_view text) {
    if (!write_all(STDOUT_FILENO, text)) {
        throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
    }
}

}  // namespace holdfast::cli
