// parse_store_url: any text is understood or refused with a position; what it shows has no secrets.
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto read = holdfast::runtime::parse_store_url(text);
    if (!read) {
        const bool told =
            read.error().code == holdfast::errc::invalid_argument && !read.error().detail.empty();
        if (!told) std::abort();
        return 0;
    }
    if (read->scheme.empty()) std::abort();
    for (const char c : read->scheme) {
        // It becomes part of the name of a library.
        if (c == '/' || c == '.' || c == '\0') std::abort();
    }
    // A password stands between the first ':' of the user info and the last '@'.
    const auto at = read->authority.rfind('@');
    const auto colon = read->authority.find(':');
    if (at == std::string::npos || colon == std::string::npos || colon + 9 > at) return 0;
    const auto secret = read->authority.substr(colon, at + 1 - colon);
    const auto begin = read->shown.find("://");
    if (begin == std::string::npos) std::abort();
    const auto end = read->shown.find_first_of("/?", begin + 3);
    if (read->shown.substr(begin, end - begin).find(secret) != std::string::npos) std::abort();
    return 0;
}
