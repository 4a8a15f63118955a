// For what must not throw: a loop, a destructor or a store has nobody to give the exception to.
#pragma once

#include <utility>

namespace holdfast::support {

/// Runs it; what it throws ends here, as is documented wherever such work is accepted.
template <class Work>
void run_guarded(Work&& work) noexcept {
    try {
        std::forward<Work>(work)();
    } catch (...) {  // NOLINT(bugprone-empty-catch): that is what this is for
    }
}

}  // namespace holdfast::support
