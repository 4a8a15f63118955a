// Tells a forked child that it is one.
#pragma once

#include <cstdint>
#include <memory>

#include <holdfast/export.hpp>

namespace holdfast::support {

/// Rises by one in every forked child. What was made in an earlier generation belongs to an
/// ancestor and must not be used, closed or destroyed here. Lock-free; safe after fork.
HOLDFAST_EXPORT std::uint32_t fork_generation() noexcept;

/// For what a child has inherited and may not destroy: it stays, and stays reachable, so that no
/// leak is reported.
HOLDFAST_EXPORT void keep_for_ever(std::shared_ptr<void> inherited);

}  // namespace holdfast::support
