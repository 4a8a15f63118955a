#include "support/fixture.hpp"

#include <unistd.h>

#include <atomic>

namespace holdfast::tests {

std::string unique_name(std::string_view stem) {
    static std::atomic<unsigned> next{0};
    return std::string(stem) + "-" + std::to_string(::getpid()) + "-" + std::to_string(next++);
}

}  // namespace holdfast::tests
