// What happens when, in the order of time and, at one moment, in the order of asking.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::simulation {

class timeline {
  public:
    time_point now() const noexcept { return now_; }
    void at(time_point when, std::function<void()> what) {
        heap_.push_back({std::max(when, now_), ++asked_, std::move(what)});
        std::push_heap(heap_.begin(), heap_.end());
    }
    /// The next thing that happens no later than `end`; false, and it is `end`, if nothing does.
    bool run_next(time_point end) {
        if (heap_.empty() || heap_.front().when > end) return now_ = end, false;
        std::pop_heap(heap_.begin(), heap_.end());
        auto next = std::move(heap_.back());
        heap_.pop_back();
        now_ = next.when;
        next.what();
        return true;
    }

  private:
    struct entry {
        time_point when{};
        std::uint64_t order = 0;
        std::function<void()> what;
        friend bool operator<(const entry& left, const entry& right) noexcept {
            return left.when != right.when ? left.when > right.when : left.order > right.order;
        }
    };
    time_point now_{std::chrono::seconds{1}};
    std::uint64_t asked_ = 0;
    std::vector<entry> heap_;
};

}  // namespace holdfast::simulation
