#include <cstdlib>

#include <holdfast/client.hpp>

#include "runtime/registry.hpp"
#include "session/session.hpp"

namespace holdfast {
namespace {

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here sets it
    return value == nullptr ? std::string{} : std::string(value);
}

failure cannot_tell(const client& user) {
    return {.code = errc::unsupported,
            .detail = user.where() + " cannot tell who holds or waits, nor end a hold"};
}

// A client's own ttl is checked when it is opened, not at its first use.
std::optional<failure> wrong_options(const client_options& options, const capabilities& can) {
    if (options.ttl < can.ttl_min || options.ttl > can.ttl_max) {
        return failure{.code = errc::invalid_argument,
                       .detail = "client_options::ttl is outside what the store allows"};
    }
    if (options.release_wait < duration::zero()) {
        return failure{.code = errc::invalid_argument,
                       .detail = "client_options::release_wait is negative"};
    }
    return {};
}

}  // namespace

client::client(std::shared_ptr<core::session> state) noexcept : session_(std::move(state)) {
}

result<std::string> client::default_path() {
    constexpr auto file = "/holdfast/locks.db";
    if (auto state = from_environment("XDG_STATE_HOME"); state.starts_with('/')) {
        return state + file;
    }
    if (auto home = from_environment("HOME"); home.starts_with('/')) {
        return home + "/.local/state" + file;
    }
    if (auto runtime = from_environment("XDG_RUNTIME_DIR"); runtime.starts_with('/')) {
        return runtime + file;
    }
    return failure{.code = errc::invalid_argument,
                   .detail =
                       "no store is named and there is no place for a default one: set "
                       "HOLDFAST_STORE, XDG_STATE_HOME or HOME"};
}

result<client> client::try_open(std::string_view url, client_options options) {
    std::string where(url);
    if (where.empty()) where = from_environment("HOLDFAST_STORE");
    if (where.empty()) {
        auto path = default_path();
        if (!path) return std::move(path).error();
        where = *std::move(path);
    }
    auto by = std::make_shared<core::loop_executor>();
    auto to = runtime::make_store(where, by->loop());
    if (!to) return std::move(to).error();
    if (auto wrong = wrong_options(options, (*to)->caps())) return *std::move(wrong);
    return client{core::session::make(*std::move(to), std::move(by), std::move(options))};
}

client client::open(std::string_view url, client_options options) {
    return try_open(url, std::move(options)).value();
}

client client::on(std::unique_ptr<store> custom, client_options options) {
    if (auto wrong = wrong_options(options, custom->caps())) throw lock_error(*std::move(wrong));
    return client{core::session::make(std::move(custom), std::make_shared<core::loop_executor>(),
                                      std::move(options))};
}

const capabilities& client::caps() const noexcept {
    return session_->caps();
}
const std::string& client::where() const noexcept {
    return session_->core().target().where();
}

result<lease> client::try_adopt(const ticket& from, const acquire_options& how) {
    return session_->adopt(from, how);
}
lease client::adopt(const ticket& from, const acquire_options& how) {
    return try_adopt(from, how).value();
}

result<void> client::try_wait_free(std::string_view name, const acquire_options& how) {
    return session_->wait_free(name, how);
}

result<std::vector<lock_record>> client::list(std::string_view prefix, bool all) {
    if (session_->forked()) return core::session::in_child();
    if (!caps().inspect) return cannot_tell(*this);
    return session_->core().target().inspect().list(prefix, all);
}

result<lock_record> client::show(std::string_view name) {
    if (session_->forked()) return core::session::in_child();
    if (!caps().inspect) return cannot_tell(*this);
    if (auto wrong = session_->check({.name = name})) return *std::move(wrong);
    return session_->core().target().inspect().show(name);
}

result<holder_record> client::evict(std::string_view name, fencing_token token,
                                    std::string_view who) {
    if (session_->forked()) return core::session::in_child();
    if (!caps().evict) return cannot_tell(*this);
    if (auto wrong = session_->check({.name = name})) return *std::move(wrong);
    return session_->core().target().inspect().evict(name, token, who);
}

std::vector<finding> client::examine() {
    if (session_->forked()) return {};
    return session_->core().target().inspect().examine();
}

std::size_t client::shutdown(duration limit) noexcept {
    return session_->shutdown(limit);
}

}  // namespace holdfast
