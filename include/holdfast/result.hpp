// Outcomes: the closed set of error codes, the failure that carries one, and result<T>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <holdfast/types.hpp>

namespace holdfast {

/// Every way a call can fail, grouped by what the caller does next.
enum class errc : std::uint8_t {
    // Wait, or go away.
    busy = 1,   ///< somebody else holds it and the call was not to wait
    timed_out,  ///< waited as long as allowed; `failure::holder` tells for whom
    cancelled,  ///< the stop token of the call was requested, or the client is shut down
    // The hold is gone.
    lost,      ///< the lease was lost; `failure::loss` tells why
    not_held,  ///< nothing was held (any more), for example a second release
    // Cannot know.
    outcome_unknown,  ///< the request may have taken effect; the library goes on cleaning up
    // Fix the call.
    invalid_argument,  ///< refused before any traffic; the text names what is allowed
    unsupported,       ///< this store cannot do it; refused before any traffic
    mismatch,          ///< the name is in use as another kind or with another capacity
    would_deadlock,    ///< the caller holds what it would wait for, e.g. a reader asks to write
    forked,            ///< used in a child process; only the parent may use its leases
    // The store.
    unavailable,    ///< could not be reached, or did not answer in time
    access_denied,  ///< refused us: permissions or credentials
    bad_reply,      ///< answered what it should not, or its data is damaged
};

/// The category of `errc`; its name is "holdfast".
HOLDFAST_EXPORT const std::error_category& error_category() noexcept;
HOLDFAST_EXPORT std::error_code make_error_code(errc code) noexcept;

/// Who holds a lock, as far as a refused caller can know. For people, never for decisions.
struct holder_info {
    std::string owner;     ///< host, pid and label, as the holder gave them
    fencing_token token;   ///< zero when the store does not tell
    duration remaining{};  ///< until the hold ends unless renewed
};

/// Why a call failed. Never contains credentials.
struct failure {
    errc code{};
    std::string detail{};                  ///< a sentence for people, also the store's own words
    std::string lock{};                    ///< the name of the lock, if one was concerned
    loss_reason loss = loss_reason::none;  ///< with errc::lost
    std::optional<holder_info> holder{};   ///< with errc::busy and errc::timed_out, if known

    /// One line: "stock:1001: not acquired in time (held by host/4711)". Control characters in the
    /// name are shown as \xNN.
    HOLDFAST_EXPORT std::string message() const;
};

/// The one exception of the library, thrown by the verbs without `try_`.
class HOLDFAST_EXPORT lock_error : public std::system_error {
  public:
    explicit lock_error(failure why);
    const failure& info() const noexcept { return why_; }
    errc reason() const noexcept { return why_.code; }
    /// Asking again later may succeed without changing anything.
    bool retryable() const noexcept;

  private:
    failure why_;
};

/// A value or a failure, with the interface of std::expected (C++23). Success is only what was
/// proven; everything else is a failure. One thread at a time, like any value.
template <class T>
class [[nodiscard]] result {
  public:
    using value_type = T;
    using error_type = failure;
    // NOLINTNEXTLINE(google-explicit-constructor): as std::expected
    result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): stands for std::unexpected
    result(failure why) : state_(std::in_place_index<1>, std::move(why)) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    T* operator->() noexcept { return std::get_if<0>(&state_); }
    const T* operator->() const noexcept { return std::get_if<0>(&state_); }
    /// Throws lock_error when there is none.
    T& value() & { return require(), **this; }
    const T& value() const& { return require(), **this; }
    T&& value() && { return require(), *std::move(*this); }
    failure& error() & noexcept { return *std::get_if<1>(&state_); }
    const failure& error() const& noexcept { return *std::get_if<1>(&state_); }
    failure&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  private:
    void require() const {
        if (!has_value()) throw lock_error(error());
    }
    std::variant<T, failure> state_;
};

template <>
class [[nodiscard]] result<void> {
  public:
    using value_type = void;
    using error_type = failure;
    result() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): stands for std::unexpected
    result(failure why) : why_(std::move(why)) {}

    bool has_value() const noexcept { return !why_; }
    explicit operator bool() const noexcept { return has_value(); }
    void value() const {
        if (why_) throw lock_error(*why_);
    }
    const failure& error() const& noexcept { return *why_; }

  private:
    std::optional<failure> why_;
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
