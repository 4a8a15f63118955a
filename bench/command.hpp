// What it costs to run a command under a lock: `holdfast run` beside flock(1).
#pragma once

#include <string>

#include "work.hpp"

namespace holdfast::bench {

/// `holdfast run --lock NAME -- true` against `flock FILE true`, in milliseconds. The program is
/// the one that lies beside this one.
named_work command_work(std::string store_url, std::string flock_file);

}  // namespace holdfast::bench
