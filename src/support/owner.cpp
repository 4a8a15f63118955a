#include <atomic>

#include <holdfast/options.hpp>

namespace holdfast {

owner_id owner_id::this_thread() noexcept {
    // Thread ids of the system are used again; these are not. The high bit keeps them apart from
    // the numbers that callers choose.
    static std::atomic<std::uint64_t> next{1};
    thread_local const std::uint64_t own = next.fetch_add(1, std::memory_order_relaxed);
    return owner_id{own | std::uint64_t{1} << 63U};
}

}  // namespace holdfast
