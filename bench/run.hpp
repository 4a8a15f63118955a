// Measuring a work, and judging the figures.
#pragma once

#include <string>
#include <vector>

#include "work.hpp"

namespace holdfast::bench {

/// A figure of one way: folded over the rounds.
struct figure {
    std::string way;
    double value = none;
};

/// How ours compares with the floor of the same round: the median of the rounds and their ends.
struct comparison {
    double median = none;
    double lowest = none;
    double highest = none;
};

struct measured_row {
    std::string work;
    row of;
    figure floor{};
    std::vector<figure> peers{};
    figure ours{};
    comparison ratio{};  ///< the difference, if that is what the goal is about
    bool met = true;
};

std::vector<measured_row> run(const named_work& what, const effort& how);

double median(std::vector<double> values);

/// The value below which this share of the values lies. The values need not be sorted.
double percentile(std::vector<double> values, double share);

}  // namespace holdfast::bench
