// The URL `memory:NAME`: one world for each name in this process.
#include <map>
#include <mutex>

#include "runtime/registry.hpp"
#include "stores/memory/world.hpp"

namespace holdfast::memory {
namespace {

struct named_worlds {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<world>> by_name;
};

named_worlds& worlds() {
    static auto* all = new named_worlds;  // never destroyed: static objects may hold clients
    return *all;
}

result<std::unique_ptr<store>> open(const runtime::store_url& url, runtime::loop&) {
    if (!url.options.empty()) {
        return failure{.code = errc::invalid_argument,
                       .detail = "memory: has no option \"" + url.options.front().first + "\""};
    }
    auto& all = worlds();
    std::lock_guard guard{all.mutex};
    auto& known = all.by_name[url.path];
    auto shared = known.lock();
    if (!shared) known = shared = std::make_shared<world>([] { return boot_clock::now(); });
    return std::unique_ptr<store>(shared->connect());
}

const bool registered = (runtime::register_store("memory", open), true);

}  // namespace
}  // namespace holdfast::memory
