// Small helpers of the rows about kinds.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "conformance/rows.hpp"

namespace holdfast::tests {

inline client connect(fixture& f, client_options options = {}) {
    options.ttl = f.ttl();
    return f.connect(std::move(options));
}

/// What a call that throws lock_error threw, or none.
template <class Call>
std::optional<failure> failure_of(Call&& call) {
    try {
        static_cast<void>(call());
    } catch (const lock_error& error) {
        return error.info();
    }
    return {};
}

/// The outcome of an asynchronous acquisition.
class outcome {
  public:
    acquired_handler handler() {
        return [state = state_](result<lease> got) {
            std::lock_guard guard{state->mutex};
            ++state->calls;
            state->got.emplace(std::move(got));
        };
    }
    bool arrived() const {
        std::lock_guard guard{state_->mutex};
        return state_->calls != 0;
    }
    int calls() const {
        std::lock_guard guard{state_->mutex};
        return state_->calls;
    }
    bool granted() const {
        std::lock_guard guard{state_->mutex};
        return state_->got && state_->got->has_value();
    }
    errc code() const {
        std::lock_guard guard{state_->mutex};
        return state_->got && !*state_->got ? state_->got->error().code : errc{};
    }
    lease take() {
        std::lock_guard guard{state_->mutex};
        return std::move(*state_->got).value();
    }

  private:
    struct state {
        std::mutex mutex;
        int calls = 0;
        std::optional<result<lease>> got;
    };
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// Keeps what it sees.
class recorder final : public observer {
  public:
    struct seen {
        event::type what{};
        std::string lock;
        fencing_token token;
        duration took{};
        loss_reason loss{};
        std::optional<errc> why;
        std::string holder;
    };
    void on_event(const event& what) override {
        std::lock_guard guard{mutex_};
        seen_.push_back({what.what, std::string(what.lock), what.token, what.took, what.loss,
                         what.why != nullptr ? std::optional{what.why->code} : std::nullopt,
                         what.holder != nullptr ? what.holder->owner : std::string{}});
    }
    std::vector<seen> all() const {
        std::lock_guard guard{mutex_};
        return seen_;
    }
    std::size_t count(event::type what) const {
        std::lock_guard guard{mutex_};
        std::size_t found = 0;
        for (const auto& one : seen_) found += one.what == what ? 1 : 0;
        return found;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<seen> seen_;
};

/// Threads of this process.
std::size_t thread_count();

}  // namespace holdfast::tests
