// The figures for people.
#pragma once

#include <string>
#include <vector>

#include "run.hpp"

namespace holdfast::bench {

std::string table(const std::vector<measured_row>& rows);

/// For example "uncontended, pairs: ratio 0.71 (0.66..0.74), goal >= 0.80".
std::string missed(const measured_row& row);

}  // namespace holdfast::bench
