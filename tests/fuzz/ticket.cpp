// parse_ticket: what is accepted is written back as the same text, in one form only.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "session/ticket_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace holdfast;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const auto read = core::parse_ticket(text)) {
        const bool sound = !read->name.empty() && read->name.size() <= name_bytes_max &&
                           read->token != fencing_token{};
        if (!sound) std::abort();
        const auto again = core::parse_ticket(core::write_ticket(*read).text);
        if (!again || again->name != read->name || again->claim != read->claim ||
            again->token != read->token) {
            std::abort();
        }
    } else if (read.error().code != errc::invalid_argument) {
        std::abort();
    }
    // Any name survives the way there and back.
    if (size == 0 || size > name_bytes_max) return 0;
    const core::ticket_content content{std::string(text), {{size, 7}}, fencing_token{size}};
    const auto written = core::write_ticket(content).text;
    const auto back = core::parse_ticket(written);
    if (!back || back->name != text) std::abort();
    if (!std::ranges::all_of(written, [](unsigned char c) { return std::isgraph(c) != 0; })) {
        std::abort();
    }
    return 0;
}
