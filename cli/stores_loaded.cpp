// The twin of holdfast, which lies among the stores and loads them when a URL names them.
#include <sys/prctl.h>

#include <holdfast/client.hpp>

#include "stores.hpp"

namespace holdfast::cli {

std::filesystem::path store_directory() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

void provide_store(const std::string& /*url*/, char** /*words*/) {
    // In ps and for killall it is what was started.
    ::prctl(PR_SET_NAME, "holdfast");
    load_stores_from(store_directory().string());
}

}  // namespace holdfast::cli
