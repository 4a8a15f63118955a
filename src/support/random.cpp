#include "support/random.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "support/fork.hpp"

namespace holdfast::support {
namespace {

// The kernel is asked for a block at a time: a call for each id would cost more than the rest of an
// uncontended acquisition in memory.
class pool {
  public:
    std::uint64_t next() {
        if (used_ == words_.size() || generation_ != fork_generation()) refill();
        return words_[used_++];
    }

  private:
    void refill() {
        std::size_t filled = 0;
        while (filled < sizeof words_) {
            auto* at = reinterpret_cast<char*>(words_.data()) + filled;
            const ssize_t got = ::getrandom(at, sizeof words_ - filled, 0);
            if (got >= 0) {
                filled += static_cast<std::size_t>(got);
            } else if (errno != EINTR) {
                throw std::system_error(errno, std::system_category(), "getrandom");
            }
        }
        used_ = 0;
        generation_ = fork_generation();
    }

    std::array<std::uint64_t, 128> words_{};
    std::size_t used_ = words_.size();
    std::uint32_t generation_ = 0;
};

thread_local pool words;

}  // namespace

std::uint64_t random_word() {
    return words.next();
}

unique_id new_id() {
    return {{random_word(), random_word()}};
}

}  // namespace holdfast::support
