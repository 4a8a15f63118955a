// Any bytes as the name of a lock: refused by their number alone, else locked under just these
// bytes, shown without harm, and found again by their hexadecimal form.
#include <cctype>
#include <cstdlib>
#include <string>

#include <holdfast/mutex.hpp>
#include <holdfast/testing.hpp>

#include "text.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

// What is shown neither ends a line nor steers a terminal, and looks like no other name.
void check_shown(const std::string& name) {
    const std::string text = holdfast::cli::shown(name);
    for (const char letter : text) require(std::iscntrl(static_cast<unsigned char>(letter)) == 0);
    require(text == name || text.find('\\') != std::string::npos);
    require(holdfast::cli::shown(name + '\n') == text + "\\x0a");
}

void check_locked(const std::string& name) {
    using namespace holdfast;
    testing::world world;
    auto user = world.connect();
    auto held = mutex{user, name}.try_acquire();
    const auto listed = user.list();
    require(held && held->name() == name);
    require(listed && listed->size() == 1 && listed->front().name == name);
}

void check_refused(const std::string& name) {
    using namespace holdfast;
    testing::world world;
    auto user = world.connect();
    bool refused = false;
    try {
        refused = mutex{user, name}.try_acquire().error().code == errc::invalid_argument;
    } catch (const lock_error& error) {
        refused = error.info().code == errc::invalid_argument;
    }
    require(refused);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string name{reinterpret_cast<const char*>(data), size};
    check_shown(name);
    require(holdfast::cli::from_hex(holdfast::cli::to_hex(name)) == name);
    const bool fits = !name.empty() && name.size() <= holdfast::name_bytes_max;
    fits ? check_locked(name) : check_refused(name);
    return 0;
}
