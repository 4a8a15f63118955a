// A worker process: the business that goes wrong without a lock.
#pragma once

namespace holdfast::cli::demo {

/// Reads its orders from standard input, says on standard output that it is ready, starts at once
/// when it is told "go", and at the end tells what each action did. Returns the exit
/// code. Throws what is no failure of the locks.
int work();

}  // namespace holdfast::cli::demo
