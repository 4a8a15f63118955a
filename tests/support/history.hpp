// What several processes did, in one order, and whether it was right (spec/reliability.md 3.4).
//
// The log is a memory-mapped file that the processes of a test share, so that what a process wrote
// survives its kill -9. All read one clock, so the times of different processes can be compared.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::tests {

enum class deed : std::uint8_t {
    acquired,   ///< `from`: invoked, `at`: returned, `until`: the declared deadline
    releasing,  ///< `until`: the deadline that renewal had come to
    released,
    lost,     ///< the holder was told; `until` likewise, `value`: the reason
    wrote,    ///< the guarded resource accepted `token`
    refused,  ///< the guarded resource refused `token`
};

/// One line of the log. Plain: it lies in shared memory.
struct entry {
    std::array<char, 24> name{};
    std::uint64_t process = 0;
    std::uint64_t handle = 0;  ///< unique in its process
    std::uint64_t token = 0;
    std::uint64_t value = 0;
    std::int64_t from = 0;
    std::int64_t at = 0;
    std::int64_t until = 0;
    deed what{};
    bool shared = false;
    std::uint32_t permits = 1;
    std::atomic<bool> complete{false};
};

/// Safe from several threads and processes.
class history_log {
  public:
    /// Makes the file, or opens one that exists.
    explicit history_log(const std::string& path);
    ~history_log();
    history_log(const history_log&) = delete;
    history_log& operator=(const history_log&) = delete;

    entry& begin(deed what, std::string_view name);
    static void end(entry& line) { line.complete.store(true, std::memory_order_release); }

    struct line {
        deed what{};
        std::string name;
        std::uint64_t process = 0;
        std::uint64_t handle = 0;
        std::uint64_t token = 0;
        std::uint64_t value = 0;
        time_point from{};
        time_point at{};
        time_point until{};
        bool shared = false;
        std::uint32_t permits = 1;
    };
    /// Everything that was completed, in the order of its beginning.
    std::vector<line> read() const;

  private:
    struct content;
    content* content_ = nullptr;
};

/// A resource that checks tokens: a number in a mapped file. What is older than the newest token
/// that it has seen is refused.
class guarded_number {
  public:
    explicit guarded_number(const std::string& path);
    ~guarded_number();
    guarded_number(const guarded_number&) = delete;
    guarded_number& operator=(const guarded_number&) = delete;

    /// Adds one, not atomically: two writers at once lose an update. False if refused.
    bool add(std::uint64_t token);
    std::uint64_t value() const;

  private:
    struct content;
    content* content_ = nullptr;
};

/// The checks; each returns what is wrong, in sentences, and nothing if all is well.
struct verdict {
    std::vector<std::string> problems;
    std::size_t grants = 0;
    std::size_t losses = 0;
};
/// C1: a grant that began after another one had returned has a greater token; none is given twice.
void check_token_order(const std::vector<history_log::line>& log, verdict& into);
/// C2: accepted writes have tokens that never fall, and refused ones are older than accepted ones.
void check_writes(const std::vector<history_log::line>& log, verdict& into);
/// C3: what holders believe, from the return of the acquisition to the release, the loss or the
/// declared deadline, never exceeds `capacity` (1: exclusive; shared holds weigh nothing together).
void check_overlap(const std::vector<history_log::line>& log, std::uint32_t capacity,
                   verdict& into);
/// C5: who was still holding at a deadline without renewal was told, at most `bound` later.
void check_detection(const std::vector<history_log::line>& log, duration bound, verdict& into);

}  // namespace holdfast::tests
