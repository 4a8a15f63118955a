#include "simulation/link.hpp"

#include <stdexcept>

#include "simulation/audit.hpp"
#include "simulation/node.hpp"
#include "simulation/server.hpp"

namespace holdfast::simulation {
namespace {

failure unavailable() {
    return {.code = errc::unavailable, .detail = "simulated: the store cannot be reached"};
}

failure unknown() {
    return {.code = errc::outcome_unknown, .detail = "simulated: the answer was lost"};
}

}  // namespace

void link::start(store_events& events) {
    events_ = &events;
    server_.born(node_.id());
}

// An orderly end: the process goes on to live, its claims do not.
void link::stop() noexcept {
    if (vanished_) {
        server_.died(node_.id());
    } else {
        server_.end_session(node_.id());
    }
}

template <class Reply>
void link::exchange(std::function<result<Reply>()> at_server,
                    std::function<void(result<Reply>)> at_client) {
    const fate what = world_.fate_of_call(node_);
    const bool inside = what == fate::at_once;
    if (inside) return at_client(server_.up() ? at_server() : result<Reply>{unavailable()});
    auto tell = [this, at_client](result<Reply> answer) {
        world_.to_client(node_, message::answer, [at_client, answer = std::move(answer)]() mutable {
            at_client(std::move(answer));
        });
    };
    if (what == fate::unavailable) return tell(unavailable());
    if (what == fate::unknown_before) return tell(unknown());
    const auto life = node_.life();
    const bool answers = what == fate::carried;
    if (!answers) tell(unknown());
    // The server outlives every client, this link does not.
    world_.to_server(node_, [=, &at = node_, &store = server_, &world = world_,
                             at_server = std::move(at_server)] {
        const bool heard = at.alive() && at.life() == life && answers;
        if (store.up()) {
            auto answer = at_server();
            if (heard) tell(std::move(answer));
        } else if (heard && world.bounces()) {
            tell(unavailable());
        }
    });
}

void link::acquire(call_id call, const claim& request) {
    if (released_.contains(request.id)) {
        audit_.fail(checker::withdrawal, request.name + ": asked again for a claim it withdrew");
    }
    const std::uint64_t cursor = request.waits ? waits_.open(request.id) : 0;
    exchange<acquire_reply>(
        [&store = server_, from = node_.id(), request] { return store.acquire(from, request); },
        [this, call, id = request.id, cursor](result<acquire_reply> answer) {
            if (answer) {
                if (auto* no = std::get_if<refused>(&*answer)) {
                    no->cursor = cursor;
                } else {
                    waits_.close(id);
                }
            }
            events_->acquired(call, std::move(answer));
        });
}

void link::wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) {
    if (!waits_.start(call, waiting.id, cursor)) events_->changed(call, {});
}

void link::woken(const claim_id& waiting) {
    if (const auto call = waits_.wake(waiting)) events_->changed(*call, {});
}

void link::reconnected(bool with_failure) {
    for (const call_id call : waits_.wake_all()) {
        events_->changed(call, with_failure ? result<void>{unavailable()} : result<void>{});
    }
}

void link::renew(call_id call, std::span<const renewal_request> requests) {
    for (const auto& request : requests) {
        if (!released_.contains(request.hold.id)) continue;
        audit_.fail(checker::renewal, request.hold.name + ": renewed after its release");
    }
    exchange<std::vector<renewal_reply>>(
        [&store = server_, from = node_.id(),
         lines = std::vector(requests.begin(), requests.end())] {
            return store.renew(from, lines);
        },
        [this, call](result<std::vector<renewal_reply>> answer) {
            events_->renewed(call, std::move(answer));
        });
}

void link::release(call_id call, std::span<const hold_ref> holds) {
    std::vector<hold_ref> lines(holds.begin(), holds.end());
    for (const auto& line : lines) waits_.close(line.id);
    exchange<std::vector<release_reply>>(
        [&store = server_, from = node_.id(), lines] { return store.release(from, lines); },
        [this, call, lines](result<std::vector<release_reply>> answer) {
            if (answer) {
                for (const auto& line : lines) released_.insert(line.id);
            }
            events_->released(call, std::move(answer));
        });
}

void link::downgrade(call_id call, const renewal_request& request) {
    exchange<renewal_reply>(
        [&store = server_, from = node_.id(), request]() -> result<renewal_reply> {
            return store.downgrade(from, request);
        },
        [this, call](result<renewal_reply> answer) {
            events_->downgraded(call, std::move(answer));
        });
}

inspector& link::inspect() {
    throw std::logic_error("the simulation does not inspect");
}

}  // namespace holdfast::simulation
