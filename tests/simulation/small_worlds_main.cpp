// Runs every schedule of some small worlds, and prints how many there were.
#include <array>
#include <cstdint>
#include <iostream>

#include "simulation/runner.hpp"
#include "simulation/small_world.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::simulation;

constexpr part waits{};
constexpr part tries{.try_only = true};
constexpr part shares{.how = access::shared};
constexpr part cancels{.may_cancel = true};

constexpr std::array worlds{
    small_world_plan{.name = "two that wait", .parts = {waits, waits}},
    small_world_plan{.name = "one waits, one tries", .parts = {waits, tries}},
    small_world_plan{.name = "a writer and a reader", .parts = {waits, shares}},
    small_world_plan{.name = "one may cancel", .parts = {cancels, waits}, .faults_max = 1},
    small_world_plan{.name = "deaths are seen", .parts = {waits, waits}, .knows_processes = true},
};

bool run(small_world_plan of) {
    // Sanitizers cost a factor of about twenty, a fault one of about two hundred.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    of.faults_max = 1;
#endif
    choices way;
    std::uint64_t schedules = 0;
    do {
        small_world one{of, way};
        const auto found = one.run();
        schedules += one.pruned() ? 0U : 1U;
        if (found) {
            std::cout << of.name << ": " << describe(*found) << "\nschedule " << schedules << ": "
                      << way.text() << '\n';
            return false;
        }
    } while (way.next());
    std::cout << of.name << ", at most " << of.faults_max << " faults: " << schedules
              << " schedules, complete, violations: 0" << std::endl;
    return true;
}

}  // namespace

int main() {
    bool good = true;
    for (const auto& each : worlds) good = run(each) && good;
    return good ? 0 : 1;
}
