#include "hand_over.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "baton.hpp"
#include "run.hpp"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t turns_max = 2000;

struct turns {
    std::array<std::atomic<bool>, 2> asking{};
    std::array<std::atomic<bool>, 2> ended{};
    std::atomic<int> has{-1};
    std::atomic<std::int64_t> given_at{0};
    // Written by the one who has the baton.
    std::atomic<std::size_t> taken{0};
    std::array<std::int64_t, turns_max> took{};
};

void take_turns(turns& all, int side, baton& it, std::size_t count) {
    const auto self = static_cast<std::size_t>(side);
    const auto other = 1 - self;
    for (std::size_t i = 0; i < count; ++i) {
        all.asking[self] = true;
        it.take();
        const auto now = nanoseconds_now();
        all.asking[self] = false;
        if (const auto given = all.given_at.load(); given != 0) all.took[all.taken++] = now - given;
        all.has = side;
        while (!all.asking[other] && !all.ended[other]) nap(50us);
        // Long enough for the other one to be blocked, not only about to ask.
        nap(300us);
        all.given_at = nanoseconds_now();
        it.give();
        while (all.has == side && !all.ended[other]) nap(50us);
    }
    all.ended[self] = true;
}

figures summary(const turns& all) {
    const std::vector<double> took(all.took.begin(),
                                   all.took.begin() + static_cast<std::ptrdiff_t>(all.taken));
    constexpr double us = 1e3;
    const auto gaps = std::ranges::count_if(took, [](double each) { return each > 100e6; });
    return {percentile(took, 0.5) / us, percentile(took, 0.99) / us, percentile(took, 1) / us,
            static_cast<double>(gaps)};
}

}  // namespace

std::vector<row> hand_over_rows(goal p50, const effort& how) {
    // A machine that is busy with other things may well stand still for 100 ms.
    const auto no_gaps = how.quick ? goal{} : goal{compared::value_at_most, 0};
    return {{"p50", "µs", p50},
            {"p99", "µs"},
            {"longest", "µs", {}, folding::highest},
            {"gaps over 100 ms", "", no_gaps, folding::sum}};
}

way hand_over(std::string name, words baton, const effort& how) {
    const std::size_t count = how.quick ? 50 : 250;
    return {std::move(name), [baton = std::move(baton), count] {
                const shared<turns> all;
                words arguments{"hand-over", std::to_string(count)};
                arguments.insert(arguments.end(), baton.begin(), baton.end());
                const auto mine = open_baton(baton, 0)();
                worker other{arguments, all.memory()};
                other.wait_until_ready();
                other.go();
                take_turns(*all, 0, *mine, count);
                other.finish();
                return summary(*all);
            }};
}

int hand_over_worker(const words& arguments) {
    const auto all = shared<turns>::inherited();
    const auto count = std::stoul(arguments.at(0));
    const auto it = open_baton({arguments.begin() + 1, arguments.end()}, 1)();
    ready_and_wait();
    take_turns(*all, 1, *it, count);
    return 0;
}

}  // namespace holdfast::bench
