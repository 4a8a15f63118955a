// The Redis store: locks in Redisson's objects on one Redis server.
//
// Every verb is one script (scripts.hpp) on the pipeline; waiting is a subscription. What can go
// wrong: the server cannot be reached, is loading, read-only or out of memory (errc::unavailable),
// or the connection ends before the answer (errc::outcome_unknown); credentials or rules forbid it
// (errc::access_denied); a key of the name is something else (errc::mismatch). A child made by
// fork() may not touch any of it.
#pragma once

#include <memory>
#include <string>

#include <holdfast/store.hpp>

#include "runtime/registry.hpp"
#include "stores/redis/pipeline.hpp"
#include "stores/redis/waiting_room.hpp"

namespace holdfast::redis {

/// What the URL says.
struct settings {
    server at{};
    std::string shown{};
};
result<settings> read_settings(const runtime::store_url& where);

class redis_store final : public store, public inspector {
  public:
    redis_store(settings how, runtime::loop& loop);
    ~redis_store() override;
    redis_store(const redis_store&) = delete;
    redis_store& operator=(const redis_store&) = delete;

    const capabilities& caps() const noexcept override;
    const std::string& where() const noexcept override { return how_.shown; }
    void start(store_events& events) override;
    void stop() noexcept override;

    void acquire(call_id call, const claim& request) override;
    void wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) override;
    void end_wait(call_id call) noexcept override;
    void renew(call_id call, std::span<const renewal_request> requests) override;
    void release(call_id call, std::span<const hold_ref> holds) override;
    void downgrade(call_id call, const renewal_request& request) override;
    inspector& inspect() override { return *this; }

    result<std::vector<lock_record>> list(std::string_view prefix, bool all) override;
    result<lock_record> show(std::string_view name) override;
    result<holder_record> evict(std::string_view name, fencing_token token,
                                std::string_view who) override;
    std::vector<finding> examine() override;

  private:
    bool forked() const noexcept;
    void ask_for(const claim& request, const std::string& channel, pipeline::answered then);
    /// False: it was not held.
    result<bool> release_now(std::string_view name, const claim_id& claim);
    /// Sends a command and waits for its answer.
    result<reply> ask(std::string command);

    const settings how_;
    runtime::loop& loop_;
    const std::uint32_t made_in_;
    const std::string self_;  ///< to whom our holds are bound
    std::shared_ptr<outlet> out_;
    std::shared_ptr<pipeline> pipeline_;
    std::shared_ptr<waiting_room> room_;
    std::shared_ptr<subscriber> listener_;
};

}  // namespace holdfast::redis
