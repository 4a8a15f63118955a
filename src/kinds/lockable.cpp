#include <condition_variable>
#include <mutex>

#include <holdfast/lockable.hpp>

#include "support/random.hpp"

namespace holdfast::detail {

// Nothing happens that could end it earlier: the point is to lose step with another thread.
void pause_at_random(duration most) {
    constexpr std::int64_t parts = 1024;
    const auto part = static_cast<std::int64_t>(support::random_word() % parts);
    std::mutex mutex;
    std::condition_variable nothing;
    std::unique_lock lock{mutex};
    nothing.wait_for(lock, most / parts * part);
}

}  // namespace holdfast::detail
