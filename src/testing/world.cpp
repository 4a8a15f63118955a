#include "stores/memory/world.hpp"

#include <map>
#include <stdexcept>

#include <holdfast/testing.hpp>

#include "session/session.hpp"
#include "testing/virtual_time.hpp"

namespace holdfast::testing {
namespace {

memory::memory_store& store_of(const client& who) {
    auto* store =
        dynamic_cast<memory::memory_store*>(&core::client_access::of(who).core().target());
    if (store == nullptr) throw std::invalid_argument("not a client of a testing::world");
    return *store;
}

hold_ref ref_of(const lease& held) {
    const auto& hold = core::lease_access::hold_of(held);
    if (!hold) throw std::invalid_argument("the lease holds nothing");
    return {hold->asked->name, hold->asked->id};
}

}  // namespace

struct world::state {
    std::shared_ptr<virtual_time> time;
    std::shared_ptr<memory::world> store;
    time_point start;
    std::map<const core::session*, std::weak_ptr<virtual_executor>> executors;
};

world::world(time_flow flow) : state_(std::make_unique<state>()) {
    state_->time = std::make_shared<virtual_time>(flow);
    state_->store = std::make_shared<memory::world>([time = state_->time] { return time->now(); });
    state_->start = state_->time->now();
}

world::~world() = default;

client world::connect(client_options options) {
    auto by = std::make_shared<virtual_executor>(state_->time);
    auto made = core::client_access::wrap(
        core::session::make(state_->store->connect(), by, std::move(options)));
    state_->executors[&core::client_access::of(made)] = by;
    return made;
}

void world::advance(duration by) {
    state_->time->advance_to(state_->time->now() + by);
}
void world::settle() {
    state_->time->run_posted();
}
duration world::elapsed() const {
    return state_->time->now() - state_->start;
}

void world::lose(const lease& held, loss_reason why) {
    state_->store->lose(ref_of(held), why, true);
}
void world::lose_silently(const lease& held) {
    state_->store->lose(ref_of(held), loss_reason::removed, false);
}
void world::cut(const client& who) {
    store_of(who).cut(true);
}
void world::heal(const client& who) {
    store_of(who).cut(false);
}

void world::pause(const client& who, duration how_long) {
    const time_point end = state_->time->now() + how_long;
    if (const auto by = state_->executors[&core::client_access::of(who)].lock()) {
        by->pause_until(end);
    }
    state_->time->advance_to(end);
}

lock_record world::show(std::string_view name) const {
    return state_->store->show(std::string(name));
}

}  // namespace holdfast::testing
