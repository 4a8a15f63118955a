// The page that shows what happened, on time lines.
#pragma once

#include <string>

#include "model.hpp"

namespace holdfast::cli::demo {

/// A whole HTML document that needs nothing from outside and runs without JavaScript.
std::string page(const report& all);

}  // namespace holdfast::cli::demo
