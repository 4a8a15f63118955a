#include "pairs.hpp"

#include <time.h>

#include <numeric>
#include <thread>

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "baton.hpp"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

struct repetition {
    double count = 0;
    double seconds = 0;    ///< that passed
    double processor = 0;  ///< of this thread
};

repetition repeat(const std::function<void()>& pair, duration how_long) {
    // Reading the clock after each pair would be part of the figure of the cheapest ones.
    constexpr int at_once = 8;
    repetition done;
    const auto spent = seconds_on(CLOCK_THREAD_CPUTIME_ID);
    const auto start = nanoseconds_now();
    auto now = start;
    do {
        for (int i = 0; i < at_once; ++i) pair();
        done.count += at_once;
        now = nanoseconds_now();
    } while (now < start + how_long.count());
    done.seconds = static_cast<double>(now - start) / 1e9;
    done.processor = seconds_on(CLOCK_THREAD_CPUTIME_ID) - spent;
    return done;
}

double cost_of(const mutex& one, duration how_long) {
    const auto done = repeat([&] { one.acquire().release(); }, how_long);
    return 1e6 * done.processor / done.count;
}

std::function<void()> pair_of(std::shared_ptr<baton> it) {
    return [it = std::move(it)] {
        it->take();
        it->give();
    };
}

way pairs_of(std::string name, const baton_source& source, duration how_long) {
    return {std::move(name),
            [pair = pair_of(source()), how_long] { return figures{repeated(pair, how_long)}; }};
}

// Several threads of one client, each on a name of its own: what a pair costs, all of it together.
double cost_with_threads(const client& in, int count, duration how_long) {
    std::vector<double> pairs(static_cast<std::size_t>(count));
    const auto before = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        threads.emplace_back([&, i] {
            const mutex own{in, "bench:" + std::to_string(i)};
            pairs[i] = repeat([&] { own.acquire().release(); }, how_long).count;
        });
    }
    for (auto& thread : threads) thread.join();
    const auto spent = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - before;
    return 1e6 * spent / std::accumulate(pairs.begin(), pairs.end(), 0.0);
}

}  // namespace

double repeated(const std::function<void()>& pair, duration how_long) {
    const auto done = repeat(pair, how_long);
    return done.count / done.seconds;
}

way our_pairs(const std::string& url, duration how_long) {
    return pairs_of("holdfast::mutex", lease_baton(url, "bench:uncontended"), how_long);
}

way flock_pairs(const std::string& path, duration how_long) {
    return pairs_of("flock(2)", flock_baton(path), how_long);
}

named_work core_work() {
    return {"core in memory", [](const effort& how) {
                const auto sample = how.sample(40ms);
                const auto in = client::open("memory:");
                auto ours = [in, sample, one = mutex{in, "bench:core"}] {
                    return figures{cost_of(one, sample), cost_with_threads(in, 8, sample)};
                };
                return work{
                    .rows = {{"acquire+release, 1 thread", "µs", {compared::value_at_most, 2.0}},
                             {"acquire+release, 8 threads", "µs"}},
                    .ours = {"holdfast::mutex", std::move(ours)},
                    .rounds = how.rounds(11),
                    .turns = 3};
            }};
}

}  // namespace holdfast::bench
