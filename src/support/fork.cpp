#include "support/fork.hpp"

#include <pthread.h>

#include <atomic>

namespace holdfast::support {
namespace {

std::atomic<std::uint32_t> generation{0};

void in_child() { generation.fetch_add(1, std::memory_order_relaxed); }

const int registered = ::pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

std::uint32_t fork_generation() noexcept {
    static_cast<void>(registered);
    return generation.load(std::memory_order_relaxed);
}

}  // namespace holdfast::support
