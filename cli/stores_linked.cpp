// holdfast itself: the stores that are linked in, and the way to its twin for all others.
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "program.hpp"
#include "stores.hpp"
#include "text.hpp"

namespace holdfast::cli {

std::filesystem::path store_directory() {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    return self.parent_path() / HOLDFAST_STORE_SUBDIR;
}

void provide_store(const std::string& url, char** words) {
    if (url.empty()) return;
    const result<bool> known = is_store_known(url);
    // What is no URL is told by the command, which has a way of telling it.
    if (!known || *known) return;
    const std::string twin = store_directory() / "holdfast-networked";
    ::execv(twin.c_str(), words);
    const std::error_code why{errno, std::generic_category()};
    throw usage_error(
        fmt::format("no store for \"{}:\" in this program, and {}, which loads others, cannot be "
                    "started: {}",
                    url.substr(0, url.find(':')), shown(twin), why.message()));
}

}  // namespace holdfast::cli
