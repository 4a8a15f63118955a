// The time line of one run, as SVG.
#pragma once

#include <string>
#include <string_view>

#include "model.hpp"

namespace holdfast::cli::demo {

/// Above, what the database said; below it, how many threads were between reading and writing, or
/// who held the lock; then a lane for each thread. `id` names the marks for the page's script.
std::string chart(const run& what, std::string_view id);

/// What one action did, in a sentence or two.
std::string story(const run& what, std::size_t which);

}  // namespace holdfast::cli::demo
