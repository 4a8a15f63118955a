#include "runtime/registry.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>

#include <holdfast/client.hpp>

namespace holdfast {
namespace runtime {
namespace {

struct known_stores {
    std::mutex mutex;
    std::map<std::string, store_factory, std::less<>> factories;
    std::string directory;  // of libraries to load by name; empty: none
};

known_stores& known() {
    static auto* it = new known_stores;  // never destroyed: static objects may hold clients
    return *it;
}

store_factory find(std::string_view scheme) {
    auto& all = known();
    std::lock_guard guard{all.mutex};
    const auto found = all.factories.find(scheme);
    return found == all.factories.end() ? nullptr : found->second;
}

std::string list_known() {
    auto& all = known();
    std::lock_guard guard{all.mutex};
    std::string names;
    for (const auto& [scheme, factory] : all.factories) {
        names += (names.empty() ? "" : ", ") + scheme + ":";
    }
    return names;
}

/// What a scheme's library is named after: a store has its name as a scheme, and others from it, as
/// redis+unix. With an s at the end it is the same store over TLS.
std::string store_of(std::string_view scheme) {
    const std::string_view name = scheme.substr(0, scheme.find('+'));
    return std::string(name == "rediss" ? "redis" : name);
}

// The library registers its store while it is loaded. Its path is never taken from the URL: the
// scheme has letters, digits and + only, checked by parse_store_url.
std::string load(const std::string& scheme) {
    std::string directory;
    {
        auto& all = known();
        std::lock_guard guard{all.mutex};
        directory = all.directory;
    }
    if (directory.empty()) return "its library is not linked into this program";
    const std::string file = directory + "/libholdfast-" + store_of(scheme) + ".so";
    if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) return ::dlerror();
    return find(scheme) == nullptr ? file + " does not have it" : std::string{};
}

}  // namespace

void register_store(std::string_view scheme, store_factory factory) {
    auto& all = known();
    std::lock_guard guard{all.mutex};
    all.factories.insert_or_assign(std::string(scheme), factory);
}

result<std::unique_ptr<store>> make_store(std::string_view url, loop& events) {
    auto where = parse_store_url(url);
    if (!where) return std::move(where).error();
    std::string problem;
    store_factory factory = find(where->scheme);
    if (factory == nullptr) {
        problem = load(where->scheme);
        factory = find(where->scheme);
    }
    if (factory == nullptr) {
        return failure{.code = errc::invalid_argument,
                       .detail = "no store for \"" + where->scheme + ":\" (" + problem +
                                 "); known here: " + list_known()};
    }
    return factory(*where, events);
}

}  // namespace runtime

result<bool> is_store_known(std::string_view url) {
    auto where = runtime::parse_store_url(url);
    if (!where) return std::move(where).error();
    return runtime::find(where->scheme) != nullptr;
}

void load_stores_from(std::string directory) {
    auto& all = runtime::known();
    std::lock_guard guard{all.mutex};
    all.directory = std::move(directory);
}

}  // namespace holdfast
