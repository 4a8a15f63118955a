// The random simulation: one seed, one run.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "simulation/audit.hpp"
#include "simulation/environment.hpp"
#include "simulation/node.hpp"
#include "simulation/resource.hpp"
#include "simulation/server.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

class actor;

/// Counts what the engines tell.
class counting_observer final : public observer {
  public:
    void on_event(const event& what) override { ++told_[static_cast<std::size_t>(what.what)]; }
    std::uint64_t told(event::type what) const { return told_[static_cast<std::size_t>(what)]; }

  private:
    std::array<std::uint64_t, 16> told_{};
};

/// What runs add up to.
struct totals {
    std::uint64_t seeds = 0;
    std::uint64_t violations = 0;
    duration simulated{};
    std::array<std::uint64_t, fault_count> faults{};
    std::uint64_t grants = 0;
    std::uint64_t handovers = 0;
    std::uint64_t acquisitions = 0;
    std::uint64_t losses = 0;
    std::uint64_t operations = 0;
    std::uint64_t writes_refused = 0;
    std::uint64_t updates_lost = 0;  ///< of the unfenced resource
    std::uint64_t overlaps_allowed = 0;

    totals& operator+=(const totals& other);
};

struct outcome {
    std::optional<violation> found;
    totals sums;
};

/// A hold that its owner let go of for somebody else to take over.
struct left_ticket {
    unsigned subject = 0;
    claim_id id{};
    fencing_token token{};
};

class world final : public environment {
  public:
    explicit world(const plan& of);
    ~world() override;
    outcome run();

    time_point now() const noexcept override { return time_.now(); }
    std::uint64_t random_for(const node&) override { return random_.next(); }
    fate fate_of_call(node& from) override;
    void to_server(node& from, deed arrive) override;
    void to_client(node& to, message what, deed arrive) override;
    void set_alarm(node& of, time_point when) override;
    bool bounces() const override { return plan_.bounces; }
    bool tells() const override { return verbose; }
    void tell(const std::string& line) override;

    // For the actors.
    const plan& planned() const noexcept { return plan_; }
    rng& dice() noexcept { return random_; }
    auditor& audit() noexcept { return audit_; }
    /// In this client, if it still lives then, by the world's clock.
    void later(node& in, duration after, deed what);
    fenced_resource& fenced(unsigned subject) { return fenced_[subject]; }
    unfenced_resource& unfenced(unsigned subject) { return unfenced_[subject]; }
    std::vector<left_ticket>& tickets() noexcept { return tickets_; }
    bool faults_over() const noexcept { return now() >= faults_end_; }
    bool calm() const noexcept { return now() >= calm_begin_; }
    bool work_over() const noexcept { return now() >= work_end_; }
    bool free_for(const std::string& name, duration least) const;
    totals& sums() noexcept { return sums_; }
    void refused() noexcept { ++refused_; }
    void acquired() noexcept { ++acquired_; }
    void log(const node& who, const std::string& what);

    bool verbose = false;

  private:
    bool strikes(fault what, node* at = nullptr);
    void boot(node& which);
    void crash(node& which);
    void moment_of_faults();
    void faults_of(node& which);
    void faults_of_store();
    void restart_store(bool forget);
    void end_session(node& which);
    void shut_down(node& which);
    void work();
    void wind_up();
    void compare_with_events();
    bool run_until(time_point end);
    duration lateness();

    plan plan_;
    rng random_;
    timeline time_;
    auditor audit_;
    server server_;
    std::vector<fenced_resource> fenced_;
    std::vector<unfenced_resource> unfenced_;
    std::vector<left_ticket> tickets_;
    std::vector<std::unique_ptr<node>> nodes_;
    std::vector<std::unique_ptr<actor>> actors_;
    std::vector<time_point> armed_;
    std::vector<time_point> cut_until_;
    std::vector<std::array<time_point, 2>> last_arrival_;
    time_point faults_end_{};
    time_point calm_begin_{};
    time_point work_end_{};
    std::shared_ptr<counting_observer> watch_;  // in some runs
    std::uint64_t refused_ = 0;
    std::uint64_t acquired_ = 0;
    totals sums_;
};

outcome run_seed(std::uint64_t seed, const reduction& less = {}, bool verbose = false);

}  // namespace holdfast::simulation
