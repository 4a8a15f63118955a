// Writing to standard output and standard error without stdio's buffers, so that nothing is left in
// them when a process is forked or ends by a signal.
#pragma once

#include <string_view>

namespace holdfast::cli {

/// Writes all of it; gives up without a word when the other end is gone or the disk is full.
/// False then.
bool write_all(int descriptor, std::string_view text) noexcept;

/// Writes to standard output; throws std::system_error if that fails, so that nobody takes half an
/// answer for a whole one.
void print(std::string_view text);

}  // namespace holdfast::cli
