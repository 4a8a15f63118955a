// A program in another language that uses its own library on the same store: a command a line in,
// an answer a line out.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::tests {

/// Throws if it does not answer in time, with what it was asked.
class peer {
  public:
    /// Waits for its line "ready".
    explicit peer(const std::vector<std::string>& command);
    ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    std::string ask(const std::string& command, duration limit = std::chrono::seconds{20}) {
        begin(command);
        return answer(limit);
    }
    /// Goes on while the peer works on it.
    void begin(const std::string& command);
    std::string answer(duration limit = std::chrono::seconds{20});
    /// SIGKILL, and waits for the end.
    void kill();

  private:
    pid_t pid_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string asked_ = "to start";
    std::string heard_;
};

}  // namespace holdfast::tests
