// One client whose clock and whose store do what a test says, step by step.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/engine.hpp"

namespace holdfast::simulation {

/// Remembers what it was asked. The test answers through `events`.
class scripted_store final : public store {
  public:
    template <class Request>
    struct asked {
        call_id id = 0;
        Request what;
    };

    const capabilities& caps() const noexcept override { return facts; }
    const std::string& where() const noexcept override { return where_; }
    void start(store_events& to) override { events = &to; }
    void stop() noexcept override {}
    void acquire(call_id id, const claim& what) override { acquires.push_back({id, what}); }
    void wait(call_id id, const hold_ref& what, std::uint64_t) override {
        waits.push_back({id, what});
    }
    void end_wait(call_id) noexcept override { ++waits_ended; }
    void renew(call_id id, std::span<const renewal_request> what) override {
        renewals.push_back({id, {what.begin(), what.end()}});
    }
    void release(call_id id, std::span<const hold_ref> what) override {
        releases.push_back({id, {what.begin(), what.end()}});
    }
    void downgrade(call_id id, const renewal_request& what) override {
        downgrades.push_back({id, what});
    }
    inspector& inspect() override { throw std::logic_error("not scripted"); }

    capabilities facts{.fencing = true,
                       .token_blocks = true,
                       .shared = true,
                       .semaphores = true,
                       .ttl_min = std::chrono::milliseconds{10},
                       .ttl_max = std::chrono::hours{1},
                       .poll_max = std::chrono::seconds{5}};
    store_events* events = nullptr;
    std::vector<asked<claim>> acquires;
    std::vector<asked<hold_ref>> waits;
    std::vector<asked<std::vector<renewal_request>>> renewals;
    std::vector<asked<std::vector<hold_ref>>> releases;
    std::vector<asked<renewal_request>> downgrades;
    unsigned waits_ended = 0;

  private:
    std::string where_ = "scripted:";
};

class scripted_host final : public core::host {
  public:
    time_point now() const noexcept override { return time; }
    unique_id new_id() override { return {{++ids_, 0}}; }
    std::uint64_t random() override { return 0; }
    void wake_at(time_point) override {}

    time_point time{std::chrono::hours{1}};

  private:
    std::uint64_t ids_ = 0;
};

/// How an acquisition has ended so far.
struct ending {
    unsigned times = 0;
    core::hold_ptr held;
    failure why;
};

class scripted_client {
  public:
    explicit scripted_client(core::settings how = {}) {
        auto owned = std::make_unique<scripted_store>();
        store = owned.get();
        engine = std::make_unique<core::engine>(std::move(owned), host, std::move(how));
    }

    core::request request(duration ttl = std::chrono::seconds{30}) const {
        core::request made;
        made.what.name = "lock";
        made.what.ttl = ttl;
        return made;
    }
    std::shared_ptr<ending> acquire(core::request what) {
        auto end = std::make_shared<ending>();
        engine->acquire(std::move(what), into(end));
        return end;
    }
    std::shared_ptr<ending> adopt(core::request what, const claim_id& id, fencing_token token) {
        auto end = std::make_shared<ending>();
        engine->adopt(std::move(what), id, token, into(end));
        return end;
    }
    /// Acquires at once, with the whole ttl and this token.
    core::hold_ptr hold(core::request what, std::uint64_t token = 1) {
        const duration ttl = what.what.ttl;
        const auto end = acquire(std::move(what));
        grant(store->acquires.size() - 1, token, ttl);
        return end->held;
    }
    void grant(std::size_t index, std::uint64_t token, duration remaining) {
        const auto& asked = store->acquires[index];
        store->events->acquired(
            asked.id, acquire_reply{granted{fencing_token{token}, asked.what.tokens, remaining}});
    }
    void refuse(std::size_t index) {
        store->events->acquired(store->acquires[index].id,
                                acquire_reply{refused{{}, std::chrono::seconds{5}, 0}});
    }
    void renewed(std::size_t index, duration remaining) {
        store->events->renewed(store->renewals[index].id,
                               std::vector<renewal_reply>{{.remaining = remaining}});
    }
    void released(std::size_t index) {
        const auto& asked = store->releases[index];
        store->events->released(
            asked.id, std::vector<release_reply>(asked.what.size(), release_reply::released));
    }
    void pass(duration time) {
        host->time += time;
        engine->run_due();
    }

    std::shared_ptr<scripted_host> host = std::make_shared<scripted_host>();
    scripted_store* store = nullptr;
    std::unique_ptr<core::engine> engine;

  private:
    static core::acquire_done into(const std::shared_ptr<ending>& end) {
        return [end](result<core::hold_ptr> how) {
            ++end->times;
            if (how) {
                end->held = *how;
            } else {
                end->why = how.error();
            }
        };
    }
};

}  // namespace holdfast::simulation
