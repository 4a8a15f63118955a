// The store's URL, and its registration:
//   redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]
//   redis+unix:///PATH[?user=USER]
// with the options database=N, user=USER, password-env=NAME and password-file=PATH.
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "runtime/loop.hpp"
#include "stores/redis/store.hpp"

namespace holdfast::redis {
namespace {

constexpr std::uint16_t port_default = 6379;
constexpr unsigned database_max = 1'000'000;

failure wrong(std::string text) {
    return {.code = errc::invalid_argument, .detail = std::move(text)};
}

result<void> read_database(std::string_view text, server& into) {
    const auto* end = text.data() + text.size();
    const auto done = std::from_chars(text.data(), end, into.database);
    if (done.ec == std::errc{} && done.ptr == end && into.database <= database_max) return {};
    return wrong("redis: the database is a number from 0 on, not '" + std::string(text) + "'");
}

result<void> read_password_file(const std::string& path, server& into) {
    std::ifstream file(path);
    if (std::getline(file, into.password)) return {};
    return wrong("redis: option password-file: cannot read a line of " + path);
}

result<void> apply(server& to, const std::string& key, const std::string& value) {
    if (key == "database") return read_database(value, to);
    if (key == "user") {
        to.user = value;
        return {};
    }
    if (key == "password-file") return read_password_file(value, to);
    if (key == "password-env") {
        const char* found = std::getenv(value.c_str());
        if (found == nullptr) return wrong("redis: option password-env: " + value + " is not set");
        to.password = found;
        return {};
    }
    return wrong(
        "unknown option '" + key +
        "' for redis; known are: database=N, user=NAME, password-env=NAME, password-file=PATH");
}

result<std::unique_ptr<store>> make(const runtime::store_url& where, runtime::loop& events) {
    auto how = read_settings(where);
    if (!how) return std::move(how).error();
    return std::unique_ptr<store>(std::make_unique<redis_store>(*std::move(how), events));
}

[[maybe_unused]] const bool registered =
    (runtime::register_store("redis", &make), runtime::register_store("redis+unix", &make), true);

result<void> read_server(const runtime::store_url& where, server& into) {
    if (where.scheme == "redis+unix") {
        if (!where.authority.empty() || where.path.empty()) {
            return wrong("redis+unix has a path and no host: redis+unix:///PATH/OF/SOCKET");
        }
        into.at = runtime::unix_address{where.path};
        return {};
    }
    auto servers = runtime::servers_of(where);
    if (servers.hosts.size() != 1) return wrong("redis has one host: redis://HOST[:PORT]");
    const auto& [name, port] = servers.hosts.front();
    into.at = runtime::tcp_address{name, port == 0 ? port_default : port};
    into.user = std::move(servers.user);
    into.password = std::move(servers.password);
    if (where.path.size() > 1) return read_database(where.path.substr(1), into);
    return {};
}

}  // namespace

result<settings> read_settings(const runtime::store_url& where) {
    settings how{.shown = where.shown};
    if (auto done = read_server(where, how.at); !done) return done.error();
    for (const auto& [key, value] : where.options) {
        if (auto done = apply(how.at, key, value); !done) return done.error();
    }
    return how;
}

}  // namespace holdfast::redis

// Keeps the library in a program that links it without calling it (--as-needed), and tells a
// program that loads it by name that it is the right one.
extern "C" [[gnu::visibility("default")]] const char* holdfast_store_redis() noexcept;
extern "C" const char* holdfast_store_redis() noexcept {
    return "redis";
}
