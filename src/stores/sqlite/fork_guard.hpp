// What must happen around fork().
//
// A client's FIFO tells others that its process lives, for as long as somebody has it open for
// reading. A child inherits that descriptor, close-on-exec does not help if it never calls exec,
// and so would keep a dead parent alive; so it closes it at once.
//
// A child also inherits what SQLite remembers of the database's file locks, but not the locks
// themselves: a connection that it opens to the same file would believe in locks that nobody has,
// and others could empty the journal under its feet. So before a child opens a database, it closes
// the connections that it inherited. That does not touch the parent, provided that no statement
// was running in another thread when the child was made; so fork waits for those.
//
// Only children made by fork() are caught, not those of a bare clone().
#pragma once

#include <cstdint>
#include <mutex>

#include "stores/sqlite/descriptor.hpp"

namespace holdfast::sqlite {
class database;
}

namespace holdfast::sqlite::fork_guard {

/// While one exists, no fork begins. For opening what a child must close.
class no_fork {
  public:
    no_fork();

  private:
    std::lock_guard<std::mutex> guard_;
};

/// A descriptor that children close.
class parents_only {
  public:
    parents_only() = default;
    /// The caller has a no_fork since before the descriptor was opened.
    parents_only(const no_fork&, descriptor what);
    parents_only(parents_only&& other) noexcept;
    parents_only& operator=(parents_only&& other) noexcept;
    ~parents_only();
    explicit operator bool() const noexcept { return number_ >= 0; }
    int get() const noexcept { return number_; }
    void reset() noexcept;

  private:
    int number_ = -1;
    std::uint32_t made_in_ = 0;
};

/// A connection whose statements run under a mutex. While one is announced, fork() waits until the
/// mutex is free, and a child can close the connection.
class connection {
  public:
    connection(std::mutex& mutex, database& what);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

  private:
    friend void close_inherited();
    friend struct handlers;
    std::mutex& mutex_;
    database& what_;
    std::uint32_t made_in_;
    bool locked_ = false;  ///< by the handlers
};

/// Held while a database is opened. No fork begins meanwhile.
std::mutex& opening();
/// Closes what this process has inherited from the one that made it. The caller holds opening().
void close_inherited();

}  // namespace holdfast::sqlite::fork_guard
