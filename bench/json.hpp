// The figures for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run.hpp"

namespace holdfast::bench {

/// One JSON document, with a line feed.
std::string to_json(std::string_view store, const effort& how,
                    const std::vector<measured_row>& rows);

}  // namespace holdfast::bench
