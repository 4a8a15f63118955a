// `holdfast demo oversell`: its options, and the order of its runs.
#pragma once

#include "../program.hpp"

namespace holdfast::cli::demo {

void add_oversell(CLI::App& app, program& with);

}  // namespace holdfast::cli::demo
