// A store by its URL, as no client opened it: for tests of the contract.
#pragma once

#include <memory>
#include <string>

#include "runtime/loop.hpp"
#include "runtime/registry.hpp"
#include "support/wrapped_store.hpp"

namespace holdfast::tests {

struct loop_first {
    std::unique_ptr<runtime::loop> loop = std::make_unique<runtime::loop>();
};

/// With the loop that its events need, turned by the loop's own thread.
class driven_store final : private loop_first, public wrapped_store {
  public:
    explicit driven_store(const std::string& url)
        : wrapped_store(runtime::make_store(url, *loop).value()) {
        loop->post([] {});
    }
};

}  // namespace holdfast::tests
