#include "session/session.hpp"

#include <unistd.h>

#include <array>
#include <stop_token>

#include "core/failures.hpp"
#include "session/ticket_text.hpp"
#include "support/fork.hpp"
#include "support/random.hpp"

namespace holdfast::core {
namespace {

constexpr std::size_t label_bytes_max = 200;

std::string host_and_pid() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
    return std::string(host.data()) + "/" + std::to_string(::getpid());
}

std::string owner_text(const std::string& host, const std::string& ours, const std::string& own) {
    const std::string& label = own.empty() ? ours : own;
    return label.empty() ? host : host + "/" + label.substr(0, label_bytes_max);
}

std::string in_ms(duration d) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count()) + " ms";
}

failure refused_argument(std::string detail, std::string_view name = {}) {
    return {.code = errc::invalid_argument, .detail = std::move(detail), .lock = std::string(name)};
}

std::optional<failure> wrong_ttl(duration ttl, const capabilities& can, std::string_view name) {
    if (ttl >= can.ttl_min && ttl <= can.ttl_max) return {};
    return refused_argument("the ttl is " + in_ms(ttl) + ", allowed are " + in_ms(can.ttl_min) +
                                " to " + in_ms(can.ttl_max),
                            name);
}

// An answer that arrives by a completion while its caller waits for it. The completion may come
// after the caller has gone.
template <class T>
class awaited {
  public:
    explicit awaited(executor& by) : by_(by) {}
    auto taker() {
        return [by = &by_, box = box_](result<T> answer) {
            box->value.emplace(std::move(answer));
            by->set(box->arrived);
        };
    }
    bool arrived() const { return box_->arrived.is_set; }
    void wait(time_point limit) {
        if (!arrived()) by_.wait(box_->arrived, limit);
    }
    /// Once it has arrived.
    result<T> take() { return *std::move(box_->value); }

  private:
    struct box {
        executor::signal arrived;
        std::optional<result<T>> value;
    };
    executor& by_;
    const std::shared_ptr<box> box_ = std::make_shared<box>();
};

}  // namespace

unique_id loop_executor::new_id() {
    return support::new_id();
}
std::uint64_t loop_executor::random() {
    return support::random_word();
}
void loop_executor::serve(engine& due) {
    loop_.on_due([&due] { due.run_due(); });
}

// A thread that drives the loop serves every lease; what a user does in a callback may block.
void loop_executor::tell(const std::function<void()>& user_code) {
    loop_.driving() ? calls_.post(user_code) : user_code();
}
void loop_executor::stop() noexcept {
    loop_.stop();
    calls_.stop();
}

std::shared_ptr<session> session::make(std::unique_ptr<store> to, std::shared_ptr<executor> by,
                                       client_options options) {
    return {new session(std::move(to), std::move(by), std::move(options)), [](session* ended) {
                // The parent's connections and leases are not the child's to close.
                if (!ended->forked()) delete ended;
            }};
}

session::session(std::unique_ptr<store> to, std::shared_ptr<executor> by, client_options options)
    : executor_(std::move(by)),
      options_(std::move(options)),
      owner_(host_and_pid()),
      generation_(support::fork_generation()),
      engine_(std::move(to), executor_, {options_.local_handovers_max, options_.watch}) {
    executor_->serve(engine_);
}

session::~session() {
    shutdown(options_.release_wait);
    engine_.stop();
    executor_->stop();
}

failure session::in_child(std::string_view lock) {
    return {.code = errc::forked,
            .detail = "this client belongs to the parent process: open a new one",
            .lock = std::string(lock)};
}

duration session::ttl_of(const acquire_options& how) const noexcept {
    return how.ttl == duration::zero() ? options_.ttl : how.ttl;
}

bool session::forked() const noexcept {
    return generation_ != support::fork_generation();
}

std::optional<failure> session::check(const wanted& what) const {
    const auto& can = caps();
    if (what.name.empty() || what.name.size() > name_bytes_max) {
        return refused_argument("a lock name has 1 to 255 bytes, this one has " +
                                std::to_string(what.name.size()));
    }
    const auto lacks = [&](const char* thing) {
        return failure{.code = errc::unsupported,
                       .detail = engine_.target().where() + " has no " + thing,
                       .lock = std::string(what.name)};
    };
    if (what.what == kind::shared_mutex && !can.shared) return lacks("shared mutexes");
    if (what.what == kind::semaphore && !can.semaphores) return lacks("semaphores");
    if (what.next == order::fair && !can.fair) return lacks("fair order");
    return {};
}

std::optional<failure> session::unusable(std::string_view name, const acquire_options& how) const {
    if (forked()) return in_child(name);
    if (auto wrong = wrong_ttl(ttl_of(how), caps(), name)) return wrong;
    if (how.wait && *how.wait < duration::zero()) {
        return refused_argument("a negative wait: use zero for one attempt", name);
    }
    if (how.hold_max <= duration::zero()) {
        return refused_argument("hold_max must be more than zero", name);
    }
    if (how.stop.stop_requested()) {
        return failure{.code = errc::cancelled, .lock = std::string(name)};
    }
    return {};
}

request session::prepare(const wanted& what, const acquire_options& how, duration wait) const {
    wait = how.wait.value_or(wait);
    request r;
    r.what = {.name = std::string(what.name),
              .id = {},
              .what = what.what,
              .how = what.how,
              .next = what.next,
              .permits = what.permits,
              .capacity = what.capacity,
              .tokens = 1,
              .ttl = ttl_of(how),
              .waits = false,
              .owner = owner_text(owner_, options_.label, how.label)};
    r.try_only = wait == duration::zero();
    if (wait != forever) r.give_up = end_of(executor_->now(), wait);
    r.hold_max = how.hold_max;
    r.renew = how.renew;
    r.owner = how.owner;
    r.reentrant = what.reentrant;
    return r;
}

lease session::leased(hold_ptr held) {
    return lease_access::wrap(std::move(held), shared_from_this());
}

result<hold_ptr> session::acquire_hold(request what, const std::stop_token& stop) {
    awaited<hold_ptr> got{*executor_};
    const op_id id = engine_.acquire(std::move(what), got.taker());
    if (!got.arrived()) {
        const std::stop_callback cancel{stop, [&] { engine_.cancel(id); }};
        got.wait(time_point::max());
    }
    if (!got.arrived()) return shut_down();
    return got.take();
}

result<lease> session::acquire(const wanted& what, const acquire_options& how, duration wait) {
    if (auto wrong = unusable(what.name, how)) return *std::move(wrong);
    auto r = prepare(what, how, wait);
    // A call that blocks its thread has an owner by nature.
    if (!r.owner.chosen()) r.owner = owner_id::this_thread();
    auto got = acquire_hold(std::move(r), how.stop);
    if (!got) return std::move(got).error();
    return leased(*std::move(got));
}

void session::async_acquire(const wanted& what, const acquire_options& how, acquired_handler then) {
    auto wrong = unusable(what.name, how);
    // In a child there is no thread that could run the handler.
    if (wrong && wrong->code == errc::forked) throw lock_error(*std::move(wrong));
    // What is outstanding does not keep the client alive: its end cancels it. Nor does the session
    // end, by the last reference, in the middle of its own engine.
    auto deliver = [by = executor_, weak = weak_from_this(),
                    then = std::move(then)](result<hold_ptr> got) {
        // A handler must be copyable to be posted; a lease is not, so the hold travels.
        by->post([weak, then, got = std::move(got)]() mutable {
            const auto self = weak.lock();
            if (!got) return then(std::move(got).error());
            if (!self) return then(shut_down());
            then(self->leased(*std::move(got)));
        });
    };
    if (wrong) return deliver(*std::move(wrong));
    using canceller = std::stop_callback<std::function<void()>>;
    auto link = std::make_shared<std::optional<canceller>>();
    auto finished = [link, deliver = std::move(deliver)](result<hold_ptr> got) {
        deliver(std::move(got));
    };
    const op_id id = engine_.acquire(prepare(what, how, forever), std::move(finished));
    if (how.stop.stop_possible()) {
        link->emplace(how.stop, [weak = weak_from_this(), id] {
            if (const auto alive = weak.lock()) alive->engine_.cancel(id);
        });
    }
}

result<void> session::wait_free(std::string_view name, const acquire_options& how) {
    const wanted probe{.name = name, .permits = 0};
    if (auto wrong = check(probe)) return *std::move(wrong);
    if (auto wrong = unusable(name, how)) return *std::move(wrong);
    auto r = prepare(probe, how, forever);
    r.owner = owner_id::nobody();
    auto got = acquire_hold(std::move(r), how.stop);
    if (!got) return std::move(got).error();
    return {};
}

result<lease> session::adopt(const ticket& from, const acquire_options& how) {
    const auto parsed = parse_ticket(from.text);
    if (!parsed) return parsed.error();
    if (auto wrong = unusable(parsed->name, how)) return *std::move(wrong);
    awaited<hold_ptr> got{*executor_};
    engine_.adopt(prepare({.name = parsed->name}, how, forever), parsed->claim, parsed->token,
                  got.taker());
    got.wait(time_point::max());
    if (!got.arrived()) return shut_down();
    auto held = got.take();
    if (!held) return std::move(held).error();
    return leased(*std::move(held));
}

// Waits for the answer to something about a hold, but not longer than allowed.
template <class Start>
result<void> session::finish(const hold_ptr& held, duration limit, Start&& start) {
    if (!held) return nothing_held();
    if (forked()) {
        return failure{.code = errc::forked,
                       .detail = "this lease belongs to the parent process",
                       .lock = held->asked->name};
    }
    awaited<void> ended{*executor_};
    start(ended.taker());
    if (!ended.arrived()) ended.wait(end_of(executor_->now(), limit));
    if (ended.arrived()) return ended.take();
    return failure{.code = errc::outcome_unknown,
                   .detail = "the store has not answered yet; it goes on in the background",
                   .lock = held->asked->name};
}

result<void> session::release(const hold_ptr& held) noexcept {
    try {
        return finish(held, options_.release_wait,
                      [&](done then) { engine_.release(held, std::move(then)); });
    } catch (const std::exception& error) {
        engine_.abandon(held);
        return failure{.code = errc::outcome_unknown, .detail = error.what()};
    }
}

result<void> session::renew(const hold_ptr& held, duration ttl) {
    if (held && ttl != duration::zero()) {
        if (auto wrong = wrong_ttl(ttl, caps(), held->asked->name)) return *std::move(wrong);
    }
    return finish(held, forever, [&](done then) { engine_.renew(held, ttl, std::move(then)); });
}

result<void> session::detach(const hold_ptr& held) {
    return finish(held, forever, [&](done then) { engine_.detach(held, std::move(then)); });
}

result<void> session::downgrade(const hold_ptr& held) {
    return finish(held, forever, [&](done then) { engine_.downgrade(held, std::move(then)); });
}

std::size_t session::shutdown(duration limit) noexcept {
    if (forked()) return 0;
    try {
        auto idle = std::make_shared<executor::signal>();
        engine_.on_idle([this, idle] { executor_->set(*idle); });
        engine_.close();
        if (engine_.unfinished() != 0) {
            executor_->wait(*idle, end_of(executor_->now(), std::max(limit, duration::zero())));
        }
        engine_.on_idle({});
    } catch (
        const std::exception&) {  // NOLINT(bugprone-empty-catch): out of memory; the count tells
    }
    return engine_.unfinished();
}

}  // namespace holdfast::core
