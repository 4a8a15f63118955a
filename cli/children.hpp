// Ending processes and all that they started.
#pragma once

#include <sys/types.h>

namespace holdfast::cli {

/// Sends SIGKILL to every child of the calling thread. A process that adopts orphans
/// (PR_SET_CHILD_SUBREAPER) reaches all its descendants by repeating this: who loses its parent
/// becomes a child. Async-signal-safe. False if /proc cannot tell the children.
bool kill_children() noexcept;

}  // namespace holdfast::cli
