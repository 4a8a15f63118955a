// The outcome for terminals and for programs.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "model.hpp"

namespace holdfast::cli::demo {

/// The runs of one experiment: the last one without the lock, and the one with it.
struct comparison {
    const run& without;
    const run& with;
};
comparison runs_of(const report& all, experiment what);

std::string title(experiment what);
/// What each thread does, and to what.
std::string task(const report& all, experiment what);
/// Said when a run without the lock had to be repeated, or went well to the end; else empty.
std::string luck(const comparison& runs);

std::string introduction(const report& all);
/// A table of both runs, and what went wrong in words.
std::string table(const report& all, experiment what);
std::string conclusion(const report& all);

/// All protected runs came out right.
bool is_correct(const report& all);
boost::json::object to_json(const report& all);

}  // namespace holdfast::cli::demo
