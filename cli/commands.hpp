// The commands, a file for each. A command adds its options to `app` and sets `with.action`, which
// runs after everything was parsed; only the command that was asked for is ever set up.
#pragma once

#include "program.hpp"

namespace holdfast::cli {

void add_run(CLI::App& app, program& with);
void add_list(CLI::App& app, program& with);
void add_show(CLI::App& app, program& with);
void add_wait(CLI::App& app, program& with);
void add_break(CLI::App& app, program& with);
void add_doctor(CLI::App& app, program& with);
/// `demo`, with the experiments as subcommands.
void add_demo(CLI::App& app, program& with);

}  // namespace holdfast::cli
