// What is behind a client: one engine on one store, and the executor that drives it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "core/engine.hpp"
#include "session/executor.hpp"

namespace holdfast::core {

/// What a kind asks for, as its user named it.
struct wanted {
    std::string_view name;
    kind what = kind::mutex;
    access how = access::exclusive;
    order next = order::standard;
    std::uint32_t permits = 1;
    std::uint32_t capacity = 1;
    bool reentrant = false;
};

/// Safe from several threads.
class session : public std::enable_shared_from_this<session> {
  public:
    /// Never destroyed in a forked child.
    static std::shared_ptr<session> make(std::unique_ptr<store> to, std::shared_ptr<executor> by,
                                         client_options options);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    engine& core() noexcept { return engine_; }
    const capabilities& caps() const noexcept { return engine_.target().caps(); }
    const client_options& options() const noexcept { return options_; }
    bool forked() const noexcept;
    /// What every call in a child fails with.
    static failure in_child(std::string_view lock = {});

    /// What is wrong with a kind of this name on this store, if anything.
    std::optional<failure> check(const wanted& what) const;

    /// Waits in the caller. `wait` counts where the options name none.
    result<lease> acquire(const wanted& what, const acquire_options& how, duration wait);
    void async_acquire(const wanted& what, const acquire_options& how, acquired_handler then);
    result<void> wait_free(std::string_view name, const acquire_options& how);
    result<lease> adopt(const ticket& from, const acquire_options& how);

    result<void> release(const hold_ptr& held) noexcept;
    result<void> renew(const hold_ptr& held, duration ttl);
    result<void> detach(const hold_ptr& held);
    result<void> downgrade(const hold_ptr& held);

    std::size_t shutdown(duration limit) noexcept;

  private:
    session(std::unique_ptr<store> to, std::shared_ptr<executor> by, client_options options);
    std::optional<failure> unusable(std::string_view name, const acquire_options& how) const;
    duration ttl_of(const acquire_options& how) const noexcept;
    request prepare(const wanted& what, const acquire_options& how, duration wait) const;
    result<hold_ptr> acquire_hold(request what, const std::stop_token& stop);
    template <class Start>
    result<void> finish(const hold_ptr& held, duration limit, Start&& start);
    lease leased(hold_ptr held);

    const std::shared_ptr<executor> executor_;
    const client_options options_;
    const std::string owner_;  // host/pid
    const std::uint32_t generation_;
    engine engine_;
};

/// Doors for the kinds and for the public handles' bodies.
class client_access {
  public:
    static session& of(const client& c) noexcept { return *c.session_; }
    static client wrap(std::shared_ptr<session> it) noexcept { return client{std::move(it)}; }
};
class lease_access {
  public:
    static const hold_ptr& hold_of(const lease& l) noexcept { return l.hold_; }
    static lease wrap(hold_ptr held, std::shared_ptr<void> anchor) noexcept {
        return lease{std::move(held), std::move(anchor)};
    }
};

}  // namespace holdfast::core
