// Drives agents (support/agent.cpp): other processes that hold locks, and may be killed.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::tests {

/// A directory with a database, a history and a guarded number, for the processes of one test.
class stage {
  public:
    stage();
    ~stage();
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;
    std::string url() const { return "sqlite:" + path_ + "/locks.db"; }
    std::string log() const { return path_ + "/history"; }
    std::string number() const { return path_ + "/number"; }

  private:
    std::string path_;
};

class agent_process {
  public:
    /// Starts one and opens the store. Kills it at the end, if it lives. `preload`: a library that
    /// takes the place of functions of libc in it.
    explicit agent_process(const stage& on, duration ttl = std::chrono::seconds{30},
                           const std::string& preload = {});
    ~agent_process();
    agent_process(const agent_process&) = delete;
    agent_process& operator=(const agent_process&) = delete;

    pid_t pid() const noexcept { return pid_; }
    void tell(const std::string& command) const;
    /// The next line that begins with `start`, without it; lines before it are kept for later.
    /// Empty optional if it does not come in time.
    std::optional<std::string> hear(const std::string& start,
                                    duration limit = std::chrono::seconds{20});
    /// Tells, and hears an answer that begins so.
    bool does(const std::string& command, const std::string& answer,
              duration limit = std::chrono::seconds{20});
    void send(int signal) const;
    /// The exit status as of waitpid; none if it does not end in time.
    std::optional<int> end(duration limit = std::chrono::seconds{20});

  private:
    bool read_more(time_point end);
    pid_t pid_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string rest_;
    std::vector<std::string> heard_;
};

}  // namespace holdfast::tests
