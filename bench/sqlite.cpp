// The embedded store against raw SQLite and flock(2).
#include "command.hpp"
#include "crowd.hpp"
#include "hand_over.hpp"
#include "held.hpp"
#include "pairs.hpp"
#include "sqlite_floor.hpp"
#include "stores.hpp"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t renewed_at_once = 1000;

// Acquire and release are a write transaction each.
named_work uncontended(const scratch_folder& in) {
    return {"uncontended", [&in](const effort& how) {
                const auto sample = 300us;
                auto raw = std::make_shared<raw_sqlite>(in.fresh("raw.db"));
                auto floor = [raw, sample] {
                    return figures{repeated([&] { raw->update(), raw->update(); }, sample)};
                };
                return work{.rows = {{"acquire+release", "1/s", {compared::ratio_at_least, 0.8}}},
                            .floor = way{"two SQLite transactions", std::move(floor)},
                            .peers = {flock_pairs(in.fresh("flock"), sample)},
                            .ours = our_pairs("sqlite:" + in.fresh("locks.db"), sample),
                            .rounds = how.rounds(25),
                            .turns = 25};
            }};
}

named_work hand_over_work(const scratch_folder& in) {
    return {"hand-over between processes", [&in](const effort& how) {
                const auto url = "sqlite:" + in.fresh("locks.db");
                return work{
                    .rows = hand_over_rows({compared::ratio_at_most, 3}, how),
                    .floor = hand_over("FIFO and one SQLite transaction",
                                       {"sqlite", in.fresh("raw.db")}, how),
                    .peers = {hand_over("flock(2)", {"flock", in.fresh("flock")}, how)},
                    .ours = hand_over("holdfast::mutex", {"lease", url, "bench:hand-over"}, how),
                    .rounds = how.rounds(9)};
            }};
}

named_work crowd_work(const scratch_folder& in, std::string name, crowd_size size) {
    return {std::move(name), [&in, size](const effort& how) {
                const auto path = in.fresh("locks.db");
                const words ours{"lease", "sqlite:" + path, "bench:hot"};
                return work{.rows = crowd_rows(),
                            .peers = {crowd("flock(2)", size, {"flock", in.fresh("flock")}, how)},
                            .ours = crowd("holdfast::mutex", size, ours, how,
                                          [path] { return transactions_of(path); }),
                            .rounds = how.rounds(3)};
            }};
}

named_work held(const scratch_folder& in) {
    return held_work("sqlite:" + in.fresh("locks.db"), {compared::value_at_most, 1000},
                     "SQLite transactions of 1000 rows", [&in](const held_size& size) {
                         raw_sqlite raw{in.fresh("raw.db")};
                         raw.fill(size.leases, held_name);
                         return raw.update_all(renewed_at_once);
                     });
}

}  // namespace

std::vector<named_work> sqlite_works(const scratch_folder& in) {
    return {uncontended(in),
            hand_over_work(in),
            command_work("sqlite:" + in.fresh("locks.db"), in.fresh("flock")),
            core_work(),
            held(in),
            crowd_work(in, "one name, 2 processes of 16 threads", {2, 16}),
            crowd_work(in, "one name, 64 processes", {64, 1})};
}

}  // namespace holdfast::bench
