// Tells a forked child that it is one.
#pragma once

#include <cstdint>

#include <holdfast/export.hpp>

namespace holdfast::support {

/// Rises by one in every forked child. What was made in an earlier generation belongs to an
/// ancestor and must not be used, closed or destroyed here. Lock-free; safe after fork.
HOLDFAST_EXPORT std::uint32_t fork_generation() noexcept;

}  // namespace holdfast::support
