// The simulation against itself: for every bug of support/planted.hpp, runs seeds until a checker
// finds it, and prints who found it and when. A bug that stays hidden fails the run, as does a
// complaint while no bug is planted.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "simulation/runner.hpp"
#include "support/planted.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::simulation;

constexpr std::uint64_t budget = 20'000;
constexpr std::uint64_t clean_seeds = 2'000;

constexpr std::array<std::pair<bug, const char*>, static_cast<std::size_t>(bug::count) - 1> bugs{{
    {bug::release_without_claim_check, "a release frees whatever is held"},
    {bug::token_not_raised, "a new grant repeats the last token"},
    {bug::expiry_ignored_on_renew, "holds do not end by time"},
    {bug::lost_wakeup, "the releaser forgets to wake the next waiter"},
    {bug::deadline_from_answer, "the deadline counts from the answer"},
    {bug::no_margin_at_deadline, "a hold is believed in beyond its ttl"},
    {bug::late_grant_accepted, "a grant that came too late is accepted"},
    {bug::renewal_revives_lost, "a late renewal revives a lost lease"},
    {bug::renewal_outlives_release, "a released lease is still renewed"},
    {bug::renewal_gives_up, "one failed renewal ends renewing"},
    {bug::no_cleanup_after_timeout, "a failed acquisition is not withdrawn"},
    {bug::no_cleanup_of_late_grant, "a grant after cancelling is kept"},
    {bug::no_recheck_after_wake, "a wake-up is taken for a grant"},
    {bug::claim_id_reused, "two acquisitions have one claim id"},
    {bug::handover_keeps_token, "a local hand-over repeats the token"},
    {bug::handover_of_lost_hold, "a lost hold is handed over"},
    {bug::release_not_retried, "a failed release is forgotten"},
    {bug::waiter_sleeps_without_timer, "a waiter trusts wake-ups alone"},
    {bug::unknown_taken_for_no, "an unknown outcome counts as a refusal"},
    {bug::loss_not_told, "the deadline passes without a word"},
}};

bool runs_clean() {
    planted_bug() = bug::none;
    const auto all = run_seeds(0, clean_seeds, 2, {}, false);
    std::printf("%-44s %-16s after %7llu seeds\n", "(no bug)",
                all.first ? "A COMPLAINT" : "nothing",
                static_cast<unsigned long long>(all.sums.seeds));
    if (all.first) std::printf("  seed %s\n", describe(all.first->found).c_str());
    return !all.first;
}

bool is_found(bug which, const char* text) {
    planted_bug() = which;
    const auto all = run_seeds(1, budget, 2, {}, true);
    const std::string by = all.first ? to_string(all.first->found.by) : "NOT FOUND";
    std::printf("%-44s %-16s after %7llu seeds", text, by.c_str(),
                static_cast<unsigned long long>(all.first ? all.first->seed : all.sums.seeds));
    if (all.first) {
        std::printf("  seed %llu: %s", static_cast<unsigned long long>(all.first->seed),
                    all.first->found.text.c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
    return all.first.has_value();
}

}  // namespace

int main() {
    std::printf("%-44s %-16s\n", "planted bug", "found by");
    bool good = runs_clean();
    std::size_t found = 0;
    for (const auto& [which, text] : bugs) found += is_found(which, text) ? 1U : 0U;
    good = good && runs_clean() && found == bugs.size();
    std::printf("%zu of %zu planted bugs found\n", found, bugs.size());
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
