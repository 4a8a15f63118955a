// The store in memory: the cost of the library itself.
#include "held.hpp"
#include "pairs.hpp"
#include "stores.hpp"

namespace holdfast::bench {

std::vector<named_work> memory_works(const scratch_folder&) {
    // Here the heap is also the store, so there is no goal for it.
    return {core_work(), held_work("memory:", {}, {}, {})};
}

}  // namespace holdfast::bench
