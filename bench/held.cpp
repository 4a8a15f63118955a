#include "held.hpp"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

struct held_report {
    std::atomic<double> cpu_seconds{0};
    std::atomic<double> wall_seconds{0};
    std::atomic<double> heap_bytes{0};
    std::atomic<double> acquire_seconds{0};
    std::atomic<double> lost{0};
};

double heap_in_use() {
    const auto about = ::mallinfo2();
    return static_cast<double>(about.uordblks + about.hblkhd);
}

double as_seconds(duration d) {
    return std::chrono::duration<double>(d).count();
}

std::vector<lease> acquire_all(const client& in, const held_size& size) {
    std::vector<lease> all;
    all.reserve(size.leases);
    for (std::size_t i = 0; i < size.leases; ++i) {
        all.push_back(mutex{in, held_name(i)}.acquire());
    }
    return all;
}

// As if it were 100,000 leases of 30 s: only a quick run has others. More leases at once are
// cheaper each, so this makes a quick figure look worse than it is, never better.
double full_size_share(double share, const held_size& size) {
    const held_size full;
    const auto renewals = [](const held_size& of) {
        return static_cast<double>(of.leases) / as_seconds(of.period());
    };
    return share * renewals(full) / renewals(size);
}

figures measure(const std::string& url, const held_size& size) {
    const shared<held_report> report;
    worker holder{{"held", url, std::to_string(size.leases), std::to_string(size.ttl.count())},
                  report.memory()};
    holder.wait_until_ready();
    holder.go();
    holder.finish();
    const auto count = static_cast<double>(size.leases);
    return {full_size_share(100 * report->cpu_seconds / report->wall_seconds, size),
            report->heap_bytes / count, report->lost, count / report->acquire_seconds};
}

}  // namespace

held_size held_size::of(const effort& how) {
    if (!how.quick) return {};
    return {.leases = 5000, .ttl = 3s};
}

std::string held_name(std::size_t number) {
    return fmt::format("orders/customer-{:08}", number);
}

named_work held_work(std::string url, goal heap, std::string floor_name,
                     std::function<double(const held_size&)> floor) {
    return {"100,000 held leases", [=](const effort& how) {
                const auto size = held_size::of(how);
                work it{.rows = {{"renewing, of one core", "%", {compared::value_at_most, 5}},
                                 {"heap per lease", "bytes", heap},
                                 {"lost", "leases", {compared::value_at_most, 0}, folding::sum},
                                 {"acquired one by one", "1/s"}},
                        .ours = {"holdfast::mutex", [=] { return measure(url, size); }}};
                if (floor) {
                    it.floor = way{
                        floor_name, [=] {
                            const auto share = floor(size) / as_seconds(size.period());
                            return figures{full_size_share(100 * share, size), none, none, none};
                        }};
                }
                return it;
            }};
}

int held_worker(const words& arguments) {
    const auto report = shared<held_report>::inherited();
    const held_size size{.leases = std::stoul(arguments.at(1)),
                         .ttl = duration{std::stoll(arguments.at(2))}};
    const auto in = client::open(arguments.at(0), {.ttl = size.ttl});
    ready_and_wait();
    const auto heap_before = heap_in_use();
    const auto started = seconds_on(CLOCK_MONOTONIC);
    const auto all = acquire_all(in, size);
    report->acquire_seconds = seconds_on(CLOCK_MONOTONIC) - started;

    const auto cpu = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
    const auto wall = seconds_on(CLOCK_MONOTONIC);
    nap(size.period() * 5 / 2);  // each is renewed at least twice
    report->cpu_seconds = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    report->wall_seconds = seconds_on(CLOCK_MONOTONIC) - wall;
    report->heap_bytes = heap_in_use() - heap_before;
    report->lost = static_cast<double>(
        std::ranges::count_if(all, [](const lease& each) { return !each.held(); }));
    return 0;
}

}  // namespace holdfast::bench
