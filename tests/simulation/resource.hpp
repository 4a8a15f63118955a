// What a lock guards, in two forms: one that checks tokens, and one that trusts its callers.
#pragma once

#include <algorithm>
#include <cstdint>

#include <holdfast/types.hpp>

namespace holdfast::simulation {

class fenced_resource {
  public:
    /// False: refused, a newer token was seen.
    bool admits(fencing_token token) {
        if (token < newest_) return ++refused, false;
        newest_ = token;
        return true;
    }
    void forget_tokens() { newest_ = {}; }

    std::uint64_t version = 0;
    std::uint64_t refused = 0;

  private:
    fencing_token newest_{};
};

struct unfenced_resource {
    std::uint64_t version = 0;
    std::uint64_t lost_updates = 0;
};

}  // namespace holdfast::simulation
