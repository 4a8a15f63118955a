// Durations of the command line: read or refused with a position inside the text.
#include "cli/duration.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace holdfast;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto read = cli::parse_duration(text);
    if (const auto* wrong = std::get_if<cli::duration_error>(&read)) {
        if (wrong->position > size || wrong->reason.empty()) std::abort();
        const auto line = cli::describe(text, *wrong);
        if (line.empty() || line.find('\n') != std::string::npos) std::abort();
        return 0;
    }
    const auto value = std::get<duration>(read);
    if (value < duration::zero() || cli::format_duration(value).empty()) std::abort();
    return 0;
}
