// The store's URL, and its registration: `sqlite:PATH[?filesystem=any][&durability=full]`.
#include <utility>

#include "runtime/loop.hpp"
#include "stores/sqlite/store.hpp"

namespace holdfast::sqlite {
namespace {

failure wrong(std::string text) {
    return {.code = errc::invalid_argument, .detail = std::move(text)};
}

result<void> apply(settings& to, const std::string& key, const std::string& value) {
    if (key == "filesystem") {
        if (value != "any") return wrong("option filesystem: the only value is 'any'");
        to.any_file_system = true;
    } else if (key == "durability") {
        if (value != "normal" && value != "full") {
            return wrong("option durability: the values are 'normal' and 'full'");
        }
        to.level = value == "full" ? durability::full : durability::normal;
    } else {
        return wrong("unknown option '" + key +
                     "' for sqlite; known are: durability=normal|full, filesystem=any");
    }
    return {};
}

result<std::unique_ptr<store>> make(const runtime::store_url& where, runtime::loop& events) {
    auto how = read_settings(where);
    if (!how) return std::move(how).error();
    return sqlite_store::open(*std::move(how), events);
}

[[maybe_unused]] const bool registered = (runtime::register_store("sqlite", &make), true);

}  // namespace

result<settings> read_settings(const runtime::store_url& where) {
    settings how{.path = where.path, .shown = where.shown};
    if (!where.authority.empty()) {
        return wrong("sqlite has no host: write sqlite:PATH or sqlite:///ABSOLUTE/PATH, not " +
                     where.shown);
    }
    for (const auto& [key, value] : where.options) {
        if (auto done = apply(how, key, value); !done) return done.error();
    }
    return how;
}

}  // namespace holdfast::sqlite

// Keeps the library in a program that links it without calling it (--as-needed), and tells a
// program that loads it by name that it is the right one.
extern "C" [[gnu::visibility("default")]] const char* holdfast_store_sqlite() noexcept;
extern "C" const char* holdfast_store_sqlite() noexcept {
    return "sqlite";
}
