// Where this program has its stores from. There are two of it: `holdfast`, which starts fast and
// has the embedded stores linked in (stores_linked.cpp), and its twin `holdfast-networked`, which
// loads every store (stores_loaded.cpp). See docs/decisions/0008-a-static-program.md.
#pragma once

#include <filesystem>
#include <string>

namespace holdfast::cli {

/// The directory of the stores, and of the programs that are a part of this one.
std::filesystem::path store_directory();

/// Sees to it that the store can be opened, as far as this program can: `holdfast` becomes its twin
/// for a store that it does not have. So call it before anything was opened, started or blocked.
/// `words` are those of main(). Empty URL: the default store. Throws usage_error.
void provide_store(const std::string& url, char** words);

}  // namespace holdfast::cli
