#include "support/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <utility>

namespace holdfast::support {
namespace {

std::atomic<std::uint32_t> generation{0};

void in_child() {
    generation.fetch_add(1, std::memory_order_relaxed);
}

const int registered = ::pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

std::uint32_t fork_generation() noexcept {
    static_cast<void>(registered);
    return generation.load(std::memory_order_relaxed);
}

void keep_for_ever(std::shared_ptr<void> inherited) {
    struct kept {
        std::shared_ptr<void> what;
        kept* next;
    };
    static std::atomic<kept*> all{nullptr};
    auto* one = new kept{std::move(inherited), all.load()};
    while (!all.compare_exchange_weak(one->next, one)) {
    }
}

}  // namespace holdfast::support
