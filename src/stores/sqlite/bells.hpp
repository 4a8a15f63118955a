// How the clients of one database reach each other: a directory beside it with one FIFO per
// client. The client keeps its own open for reading, so that the FIFO tells two things: opening it
// for writing succeeds as long as the client's process lives, however it ends, and what is written
// into it wakes the client. A wake-up names a claim; it is a hint, the truth is in the database.
//
// A FIFO appears under its name only when it is open, and names are never used twice, so a FIFO
// without a reader is a dead client. So is a missing one, as long as the directory is the one in
// which the clients made theirs: the mark in it, whose name is kept in the database, tells. If
// somebody has removed the directory, missing FIFOs prove nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <holdfast/types.hpp>

#include "stores/lease_table/lease_table.hpp"
#include "stores/sqlite/descriptor.hpp"
#include "stores/sqlite/fork_guard.hpp"

namespace holdfast::sqlite {

enum class life : std::uint8_t { alive, dead, unknown };

/// Another client's FIFO, open for writing if it lives.
struct bell_rope {
    life state = life::unknown;
    descriptor end{};
};

/// Safe from several threads.
class bell_directory final : public lease_table::process_table {
  public:
    /// `mode` is that of the database file: who may use that may also ring.
    bell_directory(std::string path, client_id self, mode_t mode);
    ~bell_directory();
    bell_directory(const bell_directory&) = delete;
    bell_directory& operator=(const bell_directory&) = delete;

    const std::string& path() const noexcept { return path_; }
    const client_id& self() const noexcept { return self_; }

    /// True if the directory is there with this mark; from now on it is the one that counts.
    bool enter(const std::string& mark);
    /// Makes the directory if it is missing, with a new mark, and enters it. Throws database_error.
    std::string make();

    /// Hangs up our own FIFO. Throws database_error.
    void hang();
    /// True if our FIFO hangs; with `look`, if it still is where others look for it.
    bool hung(bool look) const noexcept;
    void take_down() noexcept;
    /// For reading wake-ups; and how many bytes a full FIFO holds.
    int own() const noexcept;
    std::size_t capacity() const noexcept { return capacity_; }

    /// What is unknown counts as alive: then the ttl decides. Within one step of the store, that
    /// is until begin_step(), the answer stays.
    bool alive(const client_id& client) const override;
    void begin_step() const noexcept;

    /// Wakes a claim of another client. Best effort.
    void ring(const client_id& client, const claim_id& claim) noexcept;
    /// The write end of a client's FIFO, to be told of its death; takes down that of a dead one.
    bell_rope grasp(const client_id& client) const;

    struct census {
        std::size_t alive = 0;
        std::size_t stale = 0;
    };
    /// Counts the FIFOs, and removes those of dead clients if asked to.
    census count(bool remove_stale) const;

  private:
    // Under mutex_.
    bell_rope find(const client_id& client) const;
    life look(const client_id& client) const;
    bool intact() const noexcept;
    bool write_end(int end, const claim_id& claim) const noexcept;
    descriptor make_own(const fork_guard::no_fork&, const std::string& draft) const;

    std::string path_;
    client_id self_;
    std::string name_;
    mode_t mode_;
    std::size_t capacity_ = 0;

    mutable std::mutex mutex_;
    std::string mark_;
    descriptor directory_;
    fork_guard::parents_only own_;
    /// Ropes that were used, for the next time; emptied when there are too many.
    mutable std::unordered_map<client_id, descriptor> ropes_;
    mutable std::vector<std::pair<client_id, bool>> answers_;
};

}  // namespace holdfast::sqlite
