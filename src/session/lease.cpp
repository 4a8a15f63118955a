#include <algorithm>
#include <string_view>

#include <holdfast/lease.hpp>

#include "core/engine.hpp"
#include "core/failures.hpp"
#include "session/session.hpp"
#include "session/ticket_text.hpp"
#include "support/fork.hpp"

namespace holdfast {
namespace {

core::session& of(const std::shared_ptr<void>& anchor) {
    return *static_cast<core::session*>(anchor.get());
}

}  // namespace

lease::lease() noexcept = default;
lease::lease(std::shared_ptr<core::hold> held, std::shared_ptr<void> anchor) noexcept
    : anchor_(std::move(anchor)), hold_(std::move(held)) {
}
lease::lease(lease&& other) noexcept = default;

lease& lease::operator=(lease&& other) noexcept {
    if (this != &other) {
        static_cast<void>(try_release());
        hold_ = std::move(other.hold_);
        anchor_ = std::move(other.anchor_);
    }
    return *this;
}

lease::~lease() {
    if (hold_) static_cast<void>(try_release());
}

const std::string& lease::name() const noexcept {
    static const std::string none;
    return hold_ ? hold_->asked->name : none;
}
fencing_token lease::token() const noexcept {
    return hold_ ? hold_->token : fencing_token{};
}
access lease::how() const noexcept {
    return hold_ ? hold_->how.load() : access::exclusive;
}
std::uint32_t lease::permits() const noexcept {
    return hold_ ? hold_->asked->permits : 0;
}
std::uint32_t lease::hold_count() const noexcept {
    return hold_ ? hold_->count.load() : 0;
}
time_point lease::expires_at() const noexcept {
    return hold_ ? hold_->deadline.load() : time_point{};
}
bool lease::held() const noexcept {
    return hold_ && !of(anchor_).forked() && hold_->valid(hold_->manager.now());
}

std::stop_token lease::lost() const noexcept {
    if (!hold_) return {};
    if (!of(anchor_).forked()) hold_->manager.check(*hold_);
    return hold_->lost.get_token();
}

loss_reason lease::loss() const noexcept {
    if (!hold_) return loss_reason::none;
    if (!of(anchor_).forked()) hold_->manager.check(*hold_);
    return hold_->loss;
}

std::stop_token lease::at_risk() const noexcept {
    return hold_ ? hold_->at_risk.get_token() : std::stop_token{};
}

result<void> lease::try_renew(duration ttl) {
    return hold_ ? of(anchor_).renew(hold_, ttl) : core::nothing_held();
}
void lease::renew(duration ttl) {
    try_renew(ttl).value();
}

result<void> lease::try_release() noexcept {
    if (!hold_) return core::nothing_held();
    auto held = std::move(hold_);
    const auto anchor = std::move(anchor_);
    hold_.reset();
    if (of(anchor).forked()) {
        // Nothing in the child may be freed that the parent's threads may have been changing.
        support::keep_for_ever(std::move(held));
        return failure{.code = errc::forked, .detail = "this lease belongs to the parent process"};
    }
    return of(anchor).release(held);
}
void lease::release() {
    try_release().value();
}

result<void> lease::try_orphan() {
    if (!hold_) return core::nothing_held();
    auto gone = of(anchor_).detach(hold_);
    if (gone) hold_.reset();
    return gone;
}
void lease::orphan() {
    try_orphan().value();
}

result<ticket> lease::try_export_ticket() {
    if (!hold_) return core::nothing_held();
    const core::ticket_content content{hold_->asked->name, hold_->asked->id, hold_->token};
    if (auto gone = try_orphan(); !gone) return gone.error();
    return core::write_ticket(content);
}
ticket lease::export_ticket() {
    return try_export_ticket().value();
}

// The callbacks on the parts' tokens request the common source.
struct multi_lease::state {
    struct request_stop {
        std::stop_source source;
        void operator()() noexcept { source.request_stop(); }
    };
    std::vector<lease> leases;
    std::stop_source lost;
    std::vector<std::unique_ptr<std::stop_callback<request_stop>>> links;
};

multi_lease::multi_lease() = default;
multi_lease::multi_lease(std::vector<lease> leases) : state_(std::make_unique<state>()) {
    state_->leases = std::move(leases);
    for (const auto& one : state_->leases) {
        state_->links.push_back(std::make_unique<std::stop_callback<state::request_stop>>(
            one.lost(), state::request_stop{state_->lost}));
    }
}
multi_lease::multi_lease(multi_lease&&) noexcept = default;
multi_lease& multi_lease::operator=(multi_lease&& other) noexcept {
    if (this != &other) {
        static_cast<void>(try_release());
        state_ = std::move(other.state_);
    }
    return *this;
}
multi_lease::~multi_lease() {
    static_cast<void>(try_release());
}

const std::vector<lease>& multi_lease::leases() const noexcept {
    static const std::vector<lease> none;
    return state_ ? state_->leases : none;
}

const lease& multi_lease::operator[](std::string_view name) const {
    const auto& all = leases();
    const auto found = std::ranges::find(all, name, &lease::name);
    if (found == all.end()) {
        throw lock_error({.code = errc::not_held,
                          .detail = "not one of the names of this lock",
                          .lock = std::string(name)});
    }
    return *found;
}

bool multi_lease::held() const noexcept {
    return !leases().empty() && std::ranges::all_of(leases(), &lease::held);
}

std::stop_token multi_lease::lost() const noexcept {
    if (!state_) return {};
    for (const auto& one : state_->leases) static_cast<void>(one.lost());
    return state_->lost.get_token();
}

time_point multi_lease::expires_at() const noexcept {
    time_point earliest = leases().empty() ? time_point{} : time_point::max();
    for (const auto& one : leases()) earliest = std::min(earliest, one.expires_at());
    return earliest;
}

result<void> multi_lease::try_release() noexcept {
    if (!state_) return core::nothing_held();
    const auto ending = std::move(state_);
    ending->links.clear();
    result<void> first;
    for (auto one = ending->leases.rbegin(); one != ending->leases.rend(); ++one) {
        auto ended = one->try_release();
        if (!ended && first) first = std::move(ended);
    }
    return first;
}
void multi_lease::release() {
    try_release().value();
}

}  // namespace holdfast
