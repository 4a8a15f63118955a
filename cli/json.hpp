// The JSON forms. Fields are promised in docs/reference/cli.md.
#pragma once

#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <holdfast/inspect.hpp>
#include <holdfast/result.hpp>

namespace holdfast::cli {

/// Adds "name" as shown to people and "name_hex", the exact bytes.
void put_name(boost::json::object& into, std::string_view name);
/// Whole milliseconds; null for `forever`.
boost::json::value to_json(duration value);
/// As text: tokens may be larger than what JavaScript's numbers keep exactly.
boost::json::value to_json(fencing_token token);
boost::json::object to_json(const holder_record& holder);
boost::json::object to_json(const lock_record& lock);
boost::json::object to_json(const finding& found);
boost::json::object to_json(const failure& why);

/// For example "timed_out".
std::string_view name_of(errc code) noexcept;

/// One line on the descriptor; throws std::system_error if that is standard output and it fails.
void print_json(int descriptor, const boost::json::object& value);

}  // namespace holdfast::cli
