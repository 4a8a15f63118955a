#include "workplace.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli::demo {

workplace::workplace(leftovers wanted) : wanted_(wanted) {
    std::string name = std::filesystem::temp_directory_path() / "holdfast-oversell-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), "cannot make " + name);
    }
    root_ = name;
    data_ = root_ / "data";
    std::filesystem::create_directory(data_);
}

workplace::~workplace() {
    if (wanted_ == leftovers::keep) return;
    std::error_code ignored;
    std::filesystem::remove_all(data_, ignored);
    // Fails if the page is there.
    std::filesystem::remove(root_, ignored);
}

}  // namespace holdfast::cli::demo
