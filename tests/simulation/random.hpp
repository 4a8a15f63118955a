// A small generator of our own: the same numbers from a seed on every compiler and library.
#pragma once

#include <cstdint>

#include <holdfast/types.hpp>

namespace holdfast::simulation {

class rng {
  public:
    explicit rng(std::uint64_t seed) noexcept
        : state_(seed * 0x9e3779b97f4a7c15U + 0x632be59bd9b4e019U) {}

    std::uint64_t next() noexcept {  // splitmix64
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }
    /// 0 to end - 1.
    std::uint64_t below(std::uint64_t end) noexcept { return next() % end; }
    bool chance(std::uint32_t permille) noexcept { return below(1000) < permille; }
    duration between(duration least, duration most) noexcept {
        return least + duration{static_cast<duration::rep>(
                           below(static_cast<std::uint64_t>((most - least).count()) + 1))};
    }

  private:
    std::uint64_t state_;
};

}  // namespace holdfast::simulation
