// What the parts of the demo tell each other: a worker's orders, what each action did, and what a
// run came to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::cli::demo {

/// What the threads do to the database.
enum class experiment : std::uint8_t {
    phones,  ///< register a phone number unless it is there: one row per number
    stock,   ///< sell one piece unless the stock is empty
};

inline constexpr std::int64_t stock_at_start = 10;
inline constexpr unsigned processes = 2;
inline constexpr unsigned actions_per_thread = 2;

/// Between what it read and what it writes, business code computes, asks a service, lets a user
/// think. This is that time: random, between the two.
struct think_time {
    duration least{};
    duration most{};
};

/// What a worker process is told to do.
struct orders {
    experiment what = experiment::stock;
    std::string database;  ///< the file
    std::string store;     ///< the URL of the locks
    std::string lock;      ///< the lock's name; empty: work without
    unsigned process = 1;  ///< 1 or 2
    unsigned threads = 10;
    think_time think{};
    std::uint64_t seed = 0;
};

enum class outcome : std::uint8_t {
    written,
    nothing_to_do,  ///< the number was there, or the stock was empty
    stale,          ///< the database refused the token
    failed,         ///< no lock, or the hold was lost before the write
};

/// One action of one thread, with the times at which things happened, on boot_clock.
struct action {
    unsigned process = 0;
    unsigned thread = 0;
    time_point asked;     ///< began, and asked for the lock
    time_point granted;   ///< without a lock the same as `asked`
    fencing_token token;  ///< zero without a lock
    /// Taken before the read began and after the write was committed, so a write that the read did
    /// not see always ended after it.
    time_point read_at;
    time_point written_at;
    time_point released;    ///< when it began to let go of the lock; without one, when it was done
    std::int64_t seen = 0;  ///< pieces in stock, or rows with the number
    std::int64_t left = 0;  ///< what it wrote
    std::int64_t seen_version = 0;  ///< how many writes the read had before it
    std::int64_t version = 0;       ///< which write this one was, from 1; zero if none
    outcome result = outcome::failed;
    std::string trouble;  ///< why it failed
};

/// What lies in the database.
struct contents {
    std::int64_t rows = 0;   ///< with the phone number
    std::int64_t stock = 0;  ///< pieces
    std::int64_t sales = 0;  ///< rows in the table of sales
};

/// A write that went wrong, because of what somebody had read before it.
struct mistake {
    std::size_t victim = 0;   ///< the action whose write was overwritten, or was there first
    std::size_t culprit = 0;  ///< the action that wrote without having seen it
    std::string text;         ///< in words
};

/// One run of an experiment and what it came to.
struct run {
    experiment what = experiment::stock;
    bool locked = false;
    unsigned attempt = 1;  ///< above 1: repeated with more time to think
    think_time think{};
    contents before{};
    contents after{};
    std::vector<action> actions{};  ///< in the order of `granted`
    time_point started{};
    time_point ended{};
    std::vector<mistake> mistakes{};
    std::size_t crowd = 0;      ///< how many were between read and write at once, at most
    std::size_t handovers = 0;  ///< how often the lock went from one process to the other
    std::size_t overlaps = 0;   ///< holds that began before the one before them had ended
    std::size_t failures = 0;   ///< actions that failed or were refused
    bool correct = false;
};

/// Everything that the text, the JSON and the page show.
struct report {
    std::string store;     ///< where the locks were, without secrets
    bool fencing = false;  ///< the store gives tokens
    std::string host{};
    std::string phone{};
    std::string item{};
    unsigned threads = 10;
    std::uint64_t seed = 0;
    /// For each experiment: without the lock, maybe repeated, then with it.
    std::vector<run> runs{};
};

/// "P1/T3".
std::string actor(const action& who);

}  // namespace holdfast::cli::demo
