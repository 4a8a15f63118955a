// Which store a URL means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/export.hpp>
#include <holdfast/result.hpp>
#include <holdfast/store.hpp>

namespace holdfast::runtime {

class loop;

/// A store's URL, taken apart and percent-decoded.
struct store_url {
    std::string scheme{};     ///< lower case
    std::string authority{};  ///< user, hosts and ports, as written
    std::string path{};       ///< decoded
    std::vector<std::pair<std::string, std::string>> options{};  ///< decoded, in order, keys unique
    std::string shown{};                                         ///< for messages, without secrets
};

/// What an authority says: `[[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]`, decoded.
struct store_servers {
    struct host {
        std::string name{};      ///< or an address, without brackets
        std::uint16_t port = 0;  ///< 0: none was given
    };
    std::string user{};
    std::string password{};
    std::vector<host> hosts{};
};
/// Of a URL that parse_store_url has let through.
HOLDFAST_EXPORT store_servers servers_of(const store_url& where);

/// errc::invalid_argument names the offending part and its position. A text without a scheme is a
/// path for sqlite, taken as it is.
HOLDFAST_EXPORT result<store_url> parse_store_url(std::string_view text);

/// Makes a store. Unknown options are refused by name, with those that are known.
using store_factory = result<std::unique_ptr<store>> (*)(const store_url& where, loop& events);

/// Called by a store's library when it is loaded.
HOLDFAST_EXPORT void register_store(std::string_view scheme, store_factory factory);

/// The store that the URL names; loads its library if load_stores_from() allows it.
result<std::unique_ptr<store>> make_store(std::string_view url, loop& events);

}  // namespace holdfast::runtime
