// The stores that can be measured. A store is one file with its works and its floor, and one line
// in stores.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "baton.hpp"
#include "work.hpp"

namespace holdfast::bench {

struct store_bench {
    std::string_view name;
    std::vector<named_work> (*works)(const scratch_folder& in);
    /// What a hand-over costs without us, for open_baton(): the first word is the store's name.
    baton_source (*floor_baton)(const words& which, int side) = nullptr;
};

std::span<const store_bench> stores();

std::vector<named_work> memory_works(const scratch_folder& in);
std::vector<named_work> sqlite_works(const scratch_folder& in);
baton_source sqlite_floor_baton(const words& which, int side);

}  // namespace holdfast::bench
