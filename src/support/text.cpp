// The words for people.
#include <holdfast/inspect.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

namespace holdfast {
namespace {

// A name is any bytes; in a message it must not move a terminal's cursor or end a line.
std::string printable(const std::string& bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f) {
            text += c;
        } else {
            text += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return text;
}

class category final : public std::error_category {
  public:
    const char* name() const noexcept override { return "holdfast"; }
    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
            case errc::busy:
                return "held by somebody else";
            case errc::timed_out:
                return "not acquired in time";
            case errc::cancelled:
                return "cancelled";
            case errc::lost:
                return "the lease was lost";
            case errc::not_held:
                return "not held";
            case errc::outcome_unknown:
                return "the outcome is unknown";
            case errc::invalid_argument:
                return "invalid argument";
            case errc::unsupported:
                return "not supported by this store";
            case errc::mismatch:
                return "in use as another kind or capacity";
            case errc::would_deadlock:
                return "would wait for itself";
            case errc::forked:
                return "used in a forked child";
            case errc::unavailable:
                return "the store is not available";
            case errc::access_denied:
                return "the store denied access";
            case errc::bad_reply:
                return "the store answered what it should not";
        }
        return "unknown error";
    }
};

}  // namespace

const std::error_category& error_category() noexcept {
    static const category it;
    return it;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

std::string failure::message() const {
    std::string text = lock.empty() ? std::string{} : printable(lock) + ": ";
    text += error_category().message(static_cast<int>(code));
    if (!detail.empty()) text += ": " + detail;
    if (holder) text += " (held by " + holder->owner + ")";
    return text;
}

lock_error::lock_error(failure why)
    : std::system_error(make_error_code(why.code), why.message()), why_(std::move(why)) {
}

bool lock_error::retryable() const noexcept {
    switch (why_.code) {
        case errc::busy:
        case errc::timed_out:
        case errc::outcome_unknown:
        case errc::unavailable:
            return true;
        default:
            return false;
    }
}

std::string to_string(const unique_id& id) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(32);
    for (const std::uint64_t word : id.words) {
        for (int shift = 60; shift >= 0; shift -= 4) text += digits[word >> shift & 15U];
    }
    return text;
}

const char* to_string(loss_reason reason) noexcept {
    switch (reason) {
        case loss_reason::none:
            return "none";
        case loss_reason::expired:
            return "expired";
        case loss_reason::taken_over:
            return "taken over";
        case loss_reason::removed:
            return "removed";
        case loss_reason::session_gone:
            return "session gone";
        case loss_reason::unreachable:
            return "store unreachable";
        case loss_reason::hold_max:
            return "held for too long";
        case loss_reason::shut_down:
            return "shut down";
    }
    return "unknown";
}

const char* to_string(kind what) noexcept {
    switch (what) {
        case kind::mutex:
            return "mutex";
        case kind::shared_mutex:
            return "shared mutex";
        case kind::semaphore:
            return "semaphore";
    }
    return "unknown";
}

const char* to_string(access how) noexcept {
    return how == access::exclusive ? "exclusive" : "shared";
}

const char* to_string(event::type what) noexcept {
    switch (what) {
        case event::type::waiting:
            return "waiting";
        case event::type::acquired:
            return "acquired";
        case event::type::handed_over:
            return "handed over";
        case event::type::refused:
            return "refused";
        case event::type::renewed:
            return "renewed";
        case event::type::retried:
            return "retried";
        case event::type::at_risk:
            return "at risk";
        case event::type::lost:
            return "lost";
        case event::type::released:
            return "released";
        case event::type::abandoned:
            return "abandoned";
    }
    return "unknown";
}

observer::~observer() = default;

}  // namespace holdfast
