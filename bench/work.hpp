// A work: what is measured, the ways to do it, and what we want of our own way.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::bench {

/// How much of everything. `quick` is for continuous integration: it shows that a work still works
/// and that no figure fell apart, on a machine that does other things as well.
struct effort {
    bool quick = false;
    int rounds(int full) const { return quick ? 3 : full; }
    duration sample(duration full) const { return quick ? full / 4 : full; }
};

/// What a goal is about.
enum class compared : std::uint8_t {
    nothing,             ///< for information
    ratio_at_least,      ///< ours / floor, where more is better
    ratio_at_most,       ///< ours / floor, where less is better
    difference_at_most,  ///< ours - floor
    value_at_most,       ///< ours alone
};

struct goal {
    compared by = compared::nothing;
    double limit = 0;
};

/// How the figures of the rounds become one.
enum class folding : std::uint8_t { median, sum, highest };

/// One line of the table.
struct row {
    std::string name;
    std::string unit;
    goal aim{};
    folding fold = folding::median;
};

/// One figure for each row of the work; `none` where a way has nothing to say.
using figures = std::vector<double>;
inline constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// One way to do the work. The ways of a work take turns, so that whatever else the machine does
/// hits all of them.
struct way {
    std::string name;
    std::function<figures()> measure;
};

struct work {
    std::vector<row> rows;
    std::optional<way> floor{};  ///< what the store itself must do at the least
    std::vector<way> peers{};    ///< what others do for the same end, for information
    way ours;
    int rounds = 1;
    /// How often the ways take turns in a round; the median of its turns is a round's figure. Many
    /// short turns see past other programs, which take the processor away for milliseconds.
    int turns = 1;
};

/// A work that is prepared only when it is wanted, and gone before the next one.
struct named_work {
    std::string name;
    std::function<work(const effort&)> make;
};

}  // namespace holdfast::bench
