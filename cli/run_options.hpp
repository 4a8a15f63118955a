// What `holdfast run` was asked for, read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/options.hpp>

#include "program.hpp"

namespace holdfast::cli {

/// What happens to the command when its lock is about to be lost.
enum class loss_action { terminate, kill, ignore, execute };

struct permit_count {
    std::uint32_t wanted = 1;
    std::uint32_t capacity = 1;
};

struct run_options {
    std::vector<std::string> locks;  ///< at least one, sorted, each once
    access how = access::exclusive;
    std::optional<permit_count> permits;
    duration wait = forever;
    duration ttl = client_options{}.ttl;
    order next = order::standard;
    std::string label;

    loss_action on_lost = loss_action::terminate;
    std::string hook;  ///< with loss_action::execute
    duration grace = std::chrono::seconds{5};

    std::optional<int> conflict_code;
    int token_descriptor = -1;
    bool quiet = false;
    bool verbose = false;
    std::vector<std::string> command;
};

/// How the last part of a lease's time is divided. All of it counts back from the deadline up to
/// which nobody else can hold the lock.
struct last_moments {
    duration guard_kills;  ///< the guard kills, if this process cannot
    duration kill;         ///< this process kills
    duration ask;          ///< the command is asked to end
};
last_moments moments_for(const run_options& options);

}  // namespace holdfast::cli
