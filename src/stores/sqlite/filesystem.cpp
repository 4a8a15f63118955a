#include "stores/sqlite/filesystem.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "stores/sqlite/descriptor.hpp"

namespace holdfast::sqlite {
namespace {

struct known_file_system {
    std::uint64_t number;
    file_system what;
};

// Numbers as in linux/magic.h and in the table of coreutils' stat, which also knows those outside
// of the kernel. FUSE carries local and network file systems alike and is not told apart here.
constexpr std::array known_file_systems{
    known_file_system{0x6969, {"NFS", false}},
    known_file_system{0x6E667364, {"NFS (server)", false}},
    known_file_system{0x517B, {"SMB", false}},
    known_file_system{0xFE534D42, {"SMB 2", false}},
    known_file_system{0xFF534D42, {"CIFS", false}},
    known_file_system{0x564C, {"NCP", false}},
    known_file_system{0x01021997, {"9p", false}},
    known_file_system{0x65735546, {"FUSE", false}},
    known_file_system{0x5346414F, {"AFS", false}},
    known_file_system{0x6B414653, {"AFS", false}},
    known_file_system{0x73757245, {"Coda", false}},
    known_file_system{0x00C36400, {"Ceph", false}},
    known_file_system{0x0BD00BD0, {"Lustre", false}},
    known_file_system{0x01161970, {"GFS2", false}},
    known_file_system{0x7461636F, {"OCFS2", false}},
    known_file_system{0x47504653, {"GPFS", false}},
    known_file_system{0x19830326, {"BeeGFS", false}},
    known_file_system{0x20030528, {"OrangeFS", false}},
    known_file_system{0xAAD7AAEA, {"PanFS", false}},
    known_file_system{0x61636673, {"ACFS", false}},
    known_file_system{0xBEEFDEAD, {"StorNext", false}},
    known_file_system{0x786F4256, {"VirtualBox shared folder", false}},
    known_file_system{0xBACBACBC, {"VMware shared folder", false}},
    known_file_system{0x7C7C6673, {"Parallels shared folder", false}},
    known_file_system{0xEF53, {"ext4", true}},
    known_file_system{0x58465342, {"XFS", true}},
    known_file_system{0x9123683E, {"Btrfs", true}},
    known_file_system{0x2FC12FC1, {"ZFS", true}},
    known_file_system{0xCA451A4E, {"bcachefs", true}},
    known_file_system{0xF2F52010, {"F2FS", true}},
    known_file_system{0x01021994, {"tmpfs", true}},
    known_file_system{0x858458F6, {"ramfs", true}},
    known_file_system{0x794C7630, {"overlay", true}},
    known_file_system{0x4D44, {"FAT", true}},
};

result<std::string> read_small_file(const char* path) {
    const descriptor file{::open(path, O_RDONLY | O_CLOEXEC)};
    if (!file) return system_failure(code_of_errno(errno), "cannot open", path, errno);
    std::array<char, 512> text{};
    const auto got = ::read(file.get(), text.data(), text.size());
    if (got < 0) return system_failure(errc::unavailable, "cannot read", path, errno);
    return std::string(text.data(), static_cast<std::size_t>(got));
}

std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const auto word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

bool number_from(std::string_view word, std::int64_t& out) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    return error == std::errc{} && end == word.data() + word.size();
}

// A process that has called unshare(CLONE_NEWTIME) itself lives in another time namespace than the
// one whose offsets the kernel shows it.
bool offsets_are_ours() {
    std::array<char, 64> own{};
    std::array<char, 64> shown{};
    const auto a = ::readlink("/proc/self/ns/time", own.data(), own.size());
    const auto b = ::readlink("/proc/self/ns/time_for_children", shown.data(), shown.size());
    return a > 0 && a == b && own == shown;
}

}  // namespace

file_system classify_file_system(std::uint64_t f_type) noexcept {
    const auto found = std::ranges::find(known_file_systems, f_type, &known_file_system::number);
    return found == known_file_systems.end() ? file_system{"unknown", true} : found->what;
}

result<file_system> file_system_of(const std::string& path) {
    struct statfs about {};
    if (::statfs(path.c_str(), &about) != 0) {
        return system_failure(code_of_errno(errno), "cannot examine the file system of", path,
                              errno);
    }
    // The field's type is signed on some machines; the numbers are 32 bits wide.
    return classify_file_system(static_cast<std::uint32_t>(about.f_type));
}

result<std::string> absolute_path(const std::string& path) {
    if (path.empty()) {
        return failure{.code = errc::invalid_argument,
                       .detail = "no path is given; write sqlite:PATH"};
    }
    if (path.find('\0') != std::string::npos) {
        return failure{.code = errc::invalid_argument, .detail = "the path contains a NUL byte"};
    }
    if (path.back() == '/') {
        return failure{.code = errc::invalid_argument,
                       .detail = "the path '" + path + "' names a directory, not a file"};
    }
    if (path.front() == '/') return path;
    char* here = ::getcwd(nullptr, 0);
    if (here == nullptr) {
        return system_failure(errc::unavailable, "cannot find the current directory for", path,
                              errno);
    }
    std::string whole = here;
    std::free(here);
    if (whole.back() != '/') whole += '/';
    return whole + path;
}

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

result<void> make_directories_above(const std::string& path, mode_t mode) {
    const std::string target = directory_of(path);
    struct stat about {};
    if (::stat(target.c_str(), &about) == 0) return {};
    for (std::size_t slash = target.find('/', 1);; slash = target.find('/', slash + 1)) {
        const std::string part = target.substr(0, slash);
        if (::mkdir(part.c_str(), mode) == 0) {
            flush_directory(directory_of(part));
        } else if (errno != EEXIST && ::stat(part.c_str(), &about) != 0) {
            return system_failure(code_of_errno(errno), "cannot make the directory", part, errno);
        }
        if (slash == std::string::npos) return {};
    }
}

result<bool> make_private_file(const std::string& path) {
    // Exclusive: an existing file is neither opened nor closed here. Closing a second descriptor
    // of the database would drop all of this process's locks on it (POSIX).
    const descriptor file{
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (file) {
        flush_directory(directory_of(path));
        return true;
    }
    if (errno == EEXIST) return false;
    // A database that we may only read, in a directory that we may not write: SQLite will say so.
    struct stat about {};
    const int error = errno;
    if (::stat(path.c_str(), &about) == 0) return false;
    return system_failure(code_of_errno(error), "cannot make", path, error);
}

void flush_directory(const std::string& path) noexcept {
    const descriptor directory{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (directory) static_cast<void>(::fsync(directory.get()));
}

result<std::string> boot_identity() {
    auto text = read_small_file("/proc/sys/kernel/random/boot_id");
    if (!text) return text;
    while (!text->empty() && text->back() == '\n') text->pop_back();
    if (text->size() < 32) {
        return failure{.code = errc::unsupported,
                       .detail = "the kernel tells no boot id (/proc/sys/kernel/random/boot_id)"};
    }
    return text;
}

result<duration> parse_boot_clock_offset(std::string_view text) {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto clock = next_word(line);
        if (clock != "boottime" && clock != "7") continue;
        std::int64_t seconds = 0;
        std::int64_t nanoseconds = 0;
        if (!number_from(next_word(line), seconds) || !number_from(next_word(line), nanoseconds)) {
            break;
        }
        return std::chrono::seconds{seconds} + std::chrono::nanoseconds{nanoseconds};
    }
    return failure{.code = errc::unsupported,
                   .detail = "cannot understand /proc/self/timens_offsets"};
}

result<duration> boot_clock_offset() {
    const auto text = read_small_file("/proc/self/timens_offsets");
    if (!text) return duration{};  // a kernel without time namespaces
    auto offset = parse_boot_clock_offset(*text);
    if (offset && *offset != duration{} && !offsets_are_ours()) {
        return failure{.code = errc::unsupported,
                       .detail =
                           "this process has made a time namespace for its children, so its "
                           "own clock offset cannot be known"};
    }
    return offset;
}

errc code_of_errno(int error) noexcept {
    switch (error) {
        case EACCES:
        case EPERM:
        case EROFS:
        case ELOOP:
            return errc::access_denied;
        case ENOTDIR:
        case EISDIR:
        case ENAMETOOLONG:
            return errc::invalid_argument;
        default:
            return errc::unavailable;
    }
}

failure system_failure(errc code, std::string_view doing, const std::string& path, int error) {
    std::string text{doing};
    text += ' ';
    text += path;
    text += ": ";
    text += std::generic_category().message(error);
    return {.code = code, .detail = std::move(text)};
}

}  // namespace holdfast::sqlite
