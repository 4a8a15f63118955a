// Something that one at a time can have: ours, and the things that ours is compared with.
#pragma once

#include <functional>
#include <memory>

#include "process.hpp"

namespace holdfast::bench {

/// For one thread.
class baton {
  public:
    virtual ~baton() = default;
    /// Waits until it is ours.
    virtual void take() = 0;
    virtual void give() = 0;
};

/// What the threads of one process take it from.
using baton_source = std::function<std::unique_ptr<baton>()>;

/// From the words of a worker's command line:
///   lease URL NAME            a holdfast::mutex
///   flock PATH                flock(2)
///   KIND ...                  what a store adds, see stores.hpp
/// `side`: 0 or 1 where two processes alternate.
baton_source open_baton(const words& which, int side);

baton_source flock_baton(const std::string& path);
baton_source lease_baton(const std::string& url, const std::string& name);

}  // namespace holdfast::bench
