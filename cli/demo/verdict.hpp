// What a run came to: pure functions over what the workers recorded.
#pragma once

#include <string>

#include "model.hpp"

namespace holdfast::cli::demo {

/// Sorts the actions and fills in all that follows from them and from the contents of the database.
void judge(run& what);

/// Rows too many for the number.
std::int64_t duplicates(const run& what);
/// Sales that the stock does not show, because somebody wrote over them.
std::int64_t lost_updates(const run& what);
/// Pieces sold that were not there.
std::int64_t oversold(const run& what);
/// How many threads wrote.
std::size_t writes(const run& what);

/// One sentence: what is in the database now, and whether that is right.
std::string verdict(const run& what);

/// Milliseconds since the start of the run, as "12.3 ms".
std::string moment(const run& what, time_point at);

}  // namespace holdfast::cli::demo
