// The client: a connection to one store, shared by all kinds made from it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspect.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>
#include <holdfast/store.hpp>

namespace holdfast {

namespace core {
class session;
class client_access;
}  // namespace core

/// A cheap, copyable handle on one client of one store. Copies are the same client. Safe from
/// several threads. When the last copy, kind and lease are gone, it shuts down with a bound of
/// `client_options::release_wait`.
///
/// Starts at most two threads of its own, with all signals blocked, and only when needed: one that
/// renews and listens while no caller waits, and one that runs your callbacks (handlers, stop
/// callbacks, observers), so that a callback that blocks never delays a renewal.
///
/// After fork, a child may neither use nor harm what it inherited: every call fails with
/// errc::forked, leases say held() == false, destructors do nothing. Open a new client there.
class HOLDFAST_EXPORT client {
  public:
    /// Opens the store that the URL names. `memory:` or `memory:NAME` (this process),
    /// `sqlite:PATH` (this machine), or a bare path, which means sqlite. Empty: what the
    /// environment variable HOLDFAST_STORE names, else `sqlite:` at default_path(). Throws
    /// lock_error: invalid_argument names the part of the URL that is wrong and what is allowed.
    static client open(std::string_view url = {}, client_options options = {});
    static result<client> try_open(std::string_view url = {}, client_options options = {});
    /// A client on a store object of your own.
    static client on(std::unique_ptr<store> custom, client_options options = {});

    const capabilities& caps() const noexcept;
    /// The store's URL without secrets.
    const std::string& where() const noexcept;

    /// Takes over a hold that another process exported; the token is checked. errc::lost if its ttl
    /// is over or somebody else holds the name, errc::invalid_argument if the text is no ticket.
    /// `how.ttl`, `renew`, `hold_max` and `label` count as for an acquisition. One round trip.
    result<lease> try_adopt(const ticket& from, const acquire_options& how = {});
    lease adopt(const ticket& from, const acquire_options& how = {});

    /// Waits until nobody holds the name, without taking it. errc::busy or errc::timed_out if it is
    /// still held, errc::cancelled. By the time the caller looks, it may be held again.
    result<void> try_wait_free(std::string_view name, const acquire_options& how = {});

    /// For operators; errc::unsupported where the store cannot tell. These may block.
    result<std::vector<lock_record>> list(std::string_view prefix = {}, bool all = false);
    result<lock_record> show(std::string_view name);
    /// Ends a foreign hold, only if it still carries the token that you saw; errc::not_held if not.
    /// `who` goes into the store's audit trail. The holder learns it at its next renewal.
    result<holder_record> evict(std::string_view name, fencing_token token, std::string_view who);
    /// What is wrong with the store, in plain words.
    std::vector<finding> examine();

    /// Refuses new acquisitions, cancels waiters, tells every holder (`loss_reason::shut_down`),
    /// releases all leases, and returns when all that is certain, at the latest after `limit`.
    /// Returns how many releases were still uncertain; the store ends those holds by their ttl.
    /// Idempotent.
    std::size_t shutdown(duration limit = std::chrono::seconds{2}) noexcept;

    /// Where the embedded store lives when nothing is named: a private file in the user's state
    /// directory ($XDG_STATE_HOME, else ~/.local/state), else in $XDG_RUNTIME_DIR.
    static result<std::string> default_path();

  private:
    friend class core::client_access;
    explicit client(std::shared_ptr<core::session> state) noexcept;
    std::shared_ptr<core::session> session_;
};

/// For programs that load stores when a URL names them: from now on a scheme that is not linked in
/// is looked for as `libholdfast-SCHEME.so` in this directory and nowhere else; of a scheme as
/// redis+unix, what stands before the '+'. Not needed by programs that link the stores they use.
HOLDFAST_EXPORT void load_stores_from(std::string directory);

/// Whether this program has a store for the URL's scheme already: linked in, or loaded before.
/// Loads and opens nothing, costs no round trip, and may be called from any thread.
/// errc::invalid_argument if the text is no URL of a store.
HOLDFAST_EXPORT result<bool> is_store_known(std::string_view url);

}  // namespace holdfast
