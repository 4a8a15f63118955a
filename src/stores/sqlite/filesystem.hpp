// What the SQLite store asks of the operating system about files: is this file system fit for
// locks, is everything private, which boot is this.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

namespace holdfast::sqlite {

/// What is known of a file system by its number in statfs.
struct file_system {
    std::string_view name{};
    bool local = true;  ///< one kernel sees it: SQLite's shared memory and our FIFOs work
};

/// Unknown numbers count as local: new local file systems appear, and SQLite itself still refuses
/// those without shared memory.
file_system classify_file_system(std::uint64_t f_type) noexcept;

/// Of an existing file or directory.
result<file_system> file_system_of(const std::string& path);

/// Makes a path absolute, against the current directory. Refuses an empty one and NUL bytes.
result<std::string> absolute_path(const std::string& path);

/// Makes the missing directories above `path`, each with `mode`, durably.
result<void> make_directories_above(const std::string& path, mode_t mode);

/// Makes an empty file that only its owner may touch, durably, unless there is one. True if made.
result<bool> make_private_file(const std::string& path);

/// Flushes a directory's entries, so that a file made in it survives a power loss. Best effort:
/// some file systems cannot.
void flush_directory(const std::string& path) noexcept;

std::string directory_of(const std::string& path);

/// Names the running kernel since it was started. Changes with every boot.
result<std::string> boot_identity();

/// By how much this process's CLOCK_BOOTTIME is shifted against the kernel's (time namespaces).
result<duration> boot_clock_offset();
/// The offset in the text of /proc/PID/timens_offsets.
result<duration> parse_boot_clock_offset(std::string_view text);

/// A failure with the words of errno.
failure system_failure(errc code, std::string_view doing, const std::string& path, int error);
/// access_denied for what permissions cause, else unavailable.
errc code_of_errno(int error) noexcept;

}  // namespace holdfast::sqlite
