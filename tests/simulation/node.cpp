#include "simulation/node.hpp"

#include <algorithm>
#include <utility>

#include "simulation/audit.hpp"
#include "simulation/link.hpp"

namespace holdfast::simulation {

time_point local_clock::when(time_point local) const noexcept {
    if (local == time_point::max()) return local;
    const auto target = (local - offset_).time_since_epoch().count();
    const auto per_million = 1'000'000 + ppm_;
    time_point real{duration{target / per_million * 1'000'000 +
                             target % per_million * 1'000'000 / per_million}};
    while (at(real) >= local) real -= duration{1};
    while (at(real) < local) real += duration{1};
    return real;
}

class node::virtual_host final : public core::host {
  public:
    explicit virtual_host(node& of) : node_(of) {}
    time_point now() const noexcept override { return node_.local_now(); }
    unique_id new_id() override { return {{random(), random()}}; }
    std::uint64_t random() override { return node_.world_.random_for(node_); }
    void wake_at(time_point when) override {
        node_.world_.set_alarm(node_, node_.clock_.when(when));
    }

  private:
    node& node_;
};

node::node(environment& world, server& store, auditor& audit, unsigned index)
    : world_(world), server_(store), audit_(audit), index_(index) {
}

node::~node() {
    crash();
}

void node::boot(const client_id& id, const local_clock& clock, const capabilities& caps,
                core::settings how) {
    ++life_;
    id_ = id;
    clock_ = clock;
    paused_ = false;
    running_since = world_.now();
    host_ = std::make_shared<virtual_host>(*this);
    auto store = std::make_unique<link>(world_, server_, audit_, *this, caps);
    link_ = store.get();
    engine_ = std::make_unique<core::engine>(std::move(store), host_, std::move(how));
}

void node::crash() {
    if (!engine_) return;
    audit_.forget(*this);
    link_->vanish();
    inbox_.clear();
    engine_.reset();
    paused_ = false;
}

void node::within(const deed& what) {
    audit_.look(*this);
    what();
    audit_.look(*this);
}

void node::run(deed what) {
    if (!alive()) return;
    if (paused_) return inbox_.push_back(std::move(what));
    within(what);
}

void node::alarm() {
    if (alive() && !paused_) within([this] { engine_->run_due(); });
}

void node::resume(bool timers_first) {
    if (!alive() || !paused_) return;
    paused_ = false;
    running_since = world_.now();
    trouble = std::max(trouble, running_since);
    if (timers_first) alarm();
    const auto life = life_;
    for (auto& what : std::exchange(inbox_, {})) {
        if (life == life_ && alive()) run(std::move(what));
    }
    if (life == life_) alarm();
}

void node::leap(duration by) {
    if (!alive()) return;
    clock_.leap(by);
    running_since = world_.now();
    trouble = std::max(trouble, running_since);
    audit_.clock_leapt(*this);
    alarm();
}

}  // namespace holdfast::simulation
