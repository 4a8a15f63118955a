#include "crowd.hpp"

#include <atomic>
#include <thread>

#include "baton.hpp"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

struct crowd_log {
    std::atomic<bool> over{false};
    std::atomic<int> inside{0};
    std::atomic<std::uint64_t> overlaps{0};
    std::atomic<std::uint64_t> takes{0};
    std::atomic<std::uint64_t> hand_overs{0};  ///< to another thread or process than before
    std::atomic<std::uint64_t> last{0};        ///< who had it
    std::atomic<std::int64_t> given_at{0};
    std::atomic<std::int64_t> longest_gap{0};
};

// Who has the baton is alone here, so plain reads and writes of the atomics are enough.
void note_take(crowd_log& log, std::uint64_t self) {
    const auto now = nanoseconds_now();
    if (log.inside.fetch_add(1) != 0) ++log.overlaps;
    ++log.takes;
    if (log.last.exchange(self) != self) ++log.hand_overs;
    const auto given = log.given_at.load();
    if (given != 0 && !log.over && now - given > log.longest_gap) log.longest_gap = now - given;
}

void press_in(crowd_log& log, std::uint64_t self, baton& it) {
    while (!log.over) {
        it.take();
        note_take(log, self);
        --log.inside;
        log.given_at = nanoseconds_now();
        it.give();
    }
}

figures measure(crowd_size size, const words& baton, duration how_long,
                const request_counter& requests) {
    const shared<crowd_log> log;
    std::vector<worker> workers;
    for (int i = 0; i < size.processes; ++i) {
        words arguments{"crowd", std::to_string(i), std::to_string(size.threads)};
        arguments.insert(arguments.end(), baton.begin(), baton.end());
        workers.emplace_back(arguments, log.memory());
    }
    for (auto& each : workers) each.wait_until_ready();
    for (auto& each : workers) each.go();
    nap(how_long / 4);  // until all of them press
    const auto requests_before = requests ? requests() : none;
    const auto before = static_cast<double>(log->hand_overs);
    const auto start = nanoseconds_now();
    nap(how_long);
    const auto passed = static_cast<double>(log->hand_overs) - before;
    const auto seconds = static_cast<double>(nanoseconds_now() - start) / 1e9;
    const auto served = requests ? requests() - requests_before : none;
    log->over = true;
    for (auto& each : workers) each.finish();
    return {passed / seconds, served / passed, static_cast<double>(log->longest_gap) / 1e6,
            static_cast<double>(log->overlaps)};
}

}  // namespace

std::vector<row> crowd_rows() {
    return {{"hand-overs", "1/s"},
            {"requests per hand-over", ""},
            {"longest gap", "ms", {}, folding::highest},
            {"held by two at once", "", {compared::value_at_most, 0}, folding::sum}};
}

way crowd(std::string name, crowd_size size, words baton, const effort& how,
          request_counter requests) {
    const auto how_long = how.sample(2s);
    return {std::move(name), [=, baton = std::move(baton), requests = std::move(requests)] {
                return measure(size, baton, how_long, requests);
            }};
}

int crowd_worker(const words& arguments) {
    const auto log = shared<crowd_log>::inherited();
    const auto process = std::stoull(arguments.at(0));
    const auto count = std::stoull(arguments.at(1));
    const auto source = open_baton({arguments.begin() + 2, arguments.end()}, 0);
    std::vector<std::unique_ptr<baton>> batons;
    for (std::uint64_t i = 0; i < count; ++i) batons.push_back(source());
    ready_and_wait();
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] { press_in(*log, 1 + process * count + i, *batons[i]); });
    }
    for (auto& thread : threads) thread.join();
    return 0;
}

}  // namespace holdfast::bench
