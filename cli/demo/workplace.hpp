// The directory of one demo: databases, locks unless a store is named, and the page.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace holdfast::cli::demo {

/// Whether the databases stay behind.
enum class leftovers { remove, keep };

/// A new directory for temporary files that nobody else may read. The destructor removes what is
/// not to stay; the page, if one was written there, stays.
class workplace {
  public:
    explicit workplace(leftovers wanted);
    workplace(const workplace&) = delete;
    workplace& operator=(const workplace&) = delete;
    ~workplace();

    const std::filesystem::path& data() const noexcept { return data_; }
    std::filesystem::path page() const { return root_ / "oversell.html"; }

  private:
    leftovers wanted_;
    std::filesystem::path root_;
    std::filesystem::path data_;
};

}  // namespace holdfast::cli::demo
