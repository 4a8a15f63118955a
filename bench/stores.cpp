#include "stores.hpp"

#include <array>

namespace holdfast::bench {
namespace {

constexpr auto all = std::to_array<store_bench>({
    {"memory", memory_works},
#ifdef HOLDFAST_BENCH_SQLITE
    {"sqlite", sqlite_works, sqlite_floor_baton},
#endif
});

}  // namespace

std::span<const store_bench> stores() {
    return all;
}

}  // namespace holdfast::bench
