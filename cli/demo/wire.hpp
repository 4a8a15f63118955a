// The lines that the referee and its workers exchange over pipes: one JSON object each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <holdfast/result.hpp>

#include "model.hpp"

namespace holdfast::cli::demo {

/// What a worker says when it is ready to start.
struct readiness {
    std::string store;
    bool fencing = false;
};

std::string to_line(const orders& what);
std::string to_line(const readiness& what);
/// What ended a worker before its work was done.
std::string to_line(const failure& what);
std::string to_line(const std::vector<action>& done);

/// These throw if the line is none of ours. A failure in place of the answer is thrown as
/// lock_error.
orders read_orders(std::string_view text);
readiness read_readiness(std::string_view text);
std::vector<action> read_actions(std::string_view text);

/// Also for --json: times in nanoseconds of boot_clock.
boost::json::object to_json(const action& done);
std::string_view name_of(experiment what) noexcept;
std::string_view name_of(outcome result) noexcept;

}  // namespace holdfast::cli::demo
