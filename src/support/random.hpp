// Ids that nobody else has.
#pragma once

#include <cstdint>

#include <holdfast/export.hpp>
#include <holdfast/types.hpp>

namespace holdfast::support {

/// 128 bits from the kernel's random source. A forked child does not repeat its parent's.
HOLDFAST_EXPORT unique_id new_id();
/// From the same source.
HOLDFAST_EXPORT std::uint64_t random_word();

}  // namespace holdfast::support
