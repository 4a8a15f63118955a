#include "stores/sqlite/store.hpp"

#include <sys/stat.h>

#include <limits>
#include <utility>

#include "stores/sqlite/attempt.hpp"
#include "stores/sqlite/filesystem.hpp"
#include "support/fork.hpp"
#include "support/random.hpp"

namespace holdfast::sqlite {
namespace {

// How often acquisitions look after the files. Renewals always do: a process that goes on with a
// removed file believes in holds that nobody else sees.
constexpr auto check_interval = std::chrono::milliseconds{100};

void require_local(const settings& how) {
    if (how.any_file_system) return;
    const auto kept_on = file_system_of(directory_of(how.path));
    if (!kept_on) throw database_error(kept_on.error());
    if (kept_on->local) return;
    throw database_error(
        {.code = errc::unsupported,
         .detail =
             how.path + " is on a network or user-space file system (" +
             std::string(kept_on->name) +
             "), where SQLite's locks do not reliably exclude; use a path on a local disk, or "
             "filesystem=any if it is local after all"});
}

mode_t mode_of(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 0666 : 0600;
}

template <class T>
T value_of(result<T> from) {
    if (!from) throw database_error(std::move(from).error());
    return *std::move(from);
}

void require(const result<void>& what) {
    if (!what) throw database_error(what.error());
}

}  // namespace

result<std::unique_ptr<store>> sqlite_store::open(settings how, runtime::loop& loop) {
    return attempt_to([&]() -> result<std::unique_ptr<store>> {
        return std::unique_ptr<store>(std::make_unique<sqlite_store>(std::move(how), loop));
    });
}

sqlite_store::sqlite_store(settings how, runtime::loop& loop)
    : how_(std::move(how)),
      caps_(lease_table::facts()),
      made_in_(support::fork_generation()),
      releases_(static_cast<std::uint32_t>(support::random_word())) {
    how_.path = value_of(absolute_path(how_.path));
    require(make_directories_above(how_.path, 0700));
    require_local(how_);
    const auto boot = value_of(boot_identity());
    const auto offset = value_of(boot_clock_offset());
    {
        // One at a time: a descriptor of the new file that is closed while another connection
        // opens it would take that one's POSIX locks with it.
        std::lock_guard guard{fork_guard::opening()};
        fork_guard::close_inherited();
        value_of(make_private_file(how_.path));
        database_ = std::make_unique<database>(how_.path, offset, how_.busy_max);
        epoch_ = prepare_database(*database_, boot, how_.level).epoch;
        quiet_at_fork_ = std::make_unique<fork_guard::connection>(mutex_, *database_);
    }
    doorbell_ = std::make_shared<doorbell>(how_.path + "-clients", mode_of(how_.path), loop);
    checked_ = database_->now();
}

// What a child inherits is the parent's: closing descriptors that the loop knows would change the
// loop's kernel object, which both share. So all of it is left where it is; the connection is
// closed when the child opens one of its own.
sqlite_store::~sqlite_store() {
    if (forked()) {
        static_cast<void>(quiet_at_fork_.release());
        static_cast<void>(database_.release());
        support::keep_for_ever(std::move(doorbell_));
        return;
    }
    stop();
    std::lock_guard guard{fork_guard::opening()};
    quiet_at_fork_.reset();
    database_.reset();
}

bool sqlite_store::forked() const noexcept {
    return made_in_ != support::fork_generation();
}

void sqlite_store::start(store_events& events) {
    doorbell_->start(events);
}

void sqlite_store::stop() noexcept {
    if (forked()) return;
    doorbell_->gate().close();
    {
        std::lock_guard guard{mutex_};
        if (std::exchange(stopped_, true)) return;
    }
    consequences then;
    static_cast<void>(attempt([&]() -> result<void> {
        withdraw_queued(then);
        return {};
    }));
    for (const auto& [client, claim] : then.wakes) {
        if (client != doorbell_->bells().self()) doorbell_->bells().ring(client, claim);
    }
    doorbell_->close();
}

void sqlite_store::withdraw_queued(consequences& then) {
    if (queued_.empty()) return;
    transaction step{*database_};
    for (const auto& [claim, place] : queued_) {
        const auto at = begin_step(place.name);
        lease_table::release(rows_.rows(), claim, at, then);
        end_step(place.name, at);
    }
    step.commit();
    queued_.clear();
}

// --- what every verb does ---

sqlite_store::moment sqlite_store::begin_step(std::string_view name) {
    rows_.load(*database_, name);
    if (const auto row = rows_.id()) places_.remember(name, *row);
    doorbell_->bells().begin_step();
    auto floor = epoch_floor(epoch_);
    if (!rows_.exists()) {
        // A pruned name may have had greater tokens.
        running row{prepared(*database_, query::floor)};
        if (row->step()) floor = std::max(floor, static_cast<std::uint64_t>(row->number(0)));
    }
    return {.now = database_->now(),
            .self = doorbell_->bells().self(),
            .processes = &doorbell_->bells(),
            .floor = fencing_token{floor}};
}

bool sqlite_store::end_step(std::string_view name, const moment& at) {
    return rows_.store(*database_, name, at.now);
}

// The file must be the one that others lock in, and our FIFO must be there before anybody can read
// that we hold or wait.
void sqlite_store::require_files() {
    require_file();
    checked_ = database_->now();
    if (!doorbell_->bells().hung(true)) require_bell();
}

void sqlite_store::require_files_now_and_then(time_point now) {
    const bool due = now - checked_ >= check_interval;
    if (due || file_gone_ || !doorbell_->bells().hung(false)) require_files();
}

void sqlite_store::require_bell() {
    auto& bells = doorbell_->bells();
    if (!bells.enter(sqlite::bells(*database_))) {
        transaction step{*database_};
        if (!bells.enter(sqlite::bells(*database_))) {
            replace_bells(*database_, bells.make());
            step.commit();
        }
    }
    doorbell_->hang();
    // Now and then somebody has to sweep up after those that were killed.
    if (support::random_word() % 32 == 0) bells.count(true);
}

void sqlite_store::require_file() {
    file_gone_ = file_gone_ || database_->moved();
    if (!file_gone_) return;
    throw database_error({.code = errc::bad_reply,
                          .detail = how_.path +
                                    " was removed or replaced while it was open; others may lock "
                                    "the same names in the new one. Open a new client"});
}

void sqlite_store::deliver(const consequences& then) noexcept {
    try {
        doorbell_->deliver(then.wakes);
    } catch (const std::exception&) {
        // Those who were to be woken ask by themselves after capabilities::poll_max.
    }
}

void sqlite_store::tidy_up() noexcept {
    if (!database_->wants_tending()) return;
    std::lock_guard guard{mutex_};
    database_->tend();
}

// --- acquire ---

void sqlite_store::acquire(call_id call, const claim& request) {
    auto& events = doorbell_->events();
    if (forked()) return events.acquired(call, forked_failure());
    const auto pass = doorbell_->gate().enter();
    if (!pass) return;
    consequences then;
    std::optional<std::uint64_t> cursor;
    auto answer =
        attempt([&]() -> result<acquire_reply> { return grant_or_refuse(request, cursor, then); });
    if (!answer) {
        answer.error().lock = request.name;
        then = {};
    }
    if (cursor) watch_or_forget(request.id, answer, *cursor, then);
    deliver(then);
    events.acquired(call, std::move(answer));
}

// `cursor` is set if the claim waits already or may come to: from then on wake-ups count.
result<acquire_reply> sqlite_store::grant_or_refuse(const claim& request,
                                                    std::optional<std::uint64_t>& cursor,
                                                    consequences& then) {
    const auto now = database_->now();
    require_files_now_and_then(now);
    const auto place = queued_.find(request.id);
    const bool queued = place != queued_.end();
    if (queued) cursor = doorbell_->waits().open(request.id);
    if (!queued || place->second.in_row) {
        if (auto at_once = grant_free(request, now)) {
            if (queued) queued_.erase(place);
            return acquire_reply{*at_once};
        }
    }
    if (request.waits) cursor = doorbell_->waits().open(request.id);
    auto answer = ask_rules(request, then);
    if (answer && std::holds_alternative<granted>(*answer)) queued_.erase(request.id);
    return answer;
}

// The rules grant a name that nobody holds, and nobody else waits for, to whoever asks. One
// statement does so, unless the name is new or its token comes from an earlier epoch or is about to
// leave this one. While it waits for the database its ttl passes already, as it does for the owner.
std::optional<granted> sqlite_store::grant_free(const claim& request, time_point now) {
    if (request.permits == 0) return {};
    if (request.what == kind::semaphore && request.permits > request.capacity) return {};
    const auto floor = epoch_floor(epoch_);
    const auto ceiling = epoch_floor(epoch_ + 1) - 1 - request.tokens;
    const auto holding =
        packed_holding(request.how, request.permits, request.tokens, now, request.owner);
    const auto known = places_.find(request.name);
    statement& grant = prepared(*database_, query::grant_free);
    grant.bind_blob(1, request.name)
        .bind(2, rules_of(request.what, request.capacity))
        .bind(3, request.tokens)
        .bind(4, request.id)
        .bind(5, doorbell_->bells().self())
        .bind(6, now + request.ttl)
        .bind_text(7, holding)
        .bind(8, static_cast<std::int64_t>(floor))
        .bind(9, static_cast<std::int64_t>(ceiling))
        .bind(10, known)
        .step_alone();
    if (database_->changes() == 0) return {};
    const auto& [token, row] = database_->noted();
    if (row != known) places_.remember(request.name, row);
    return granted{.token = fencing_token{static_cast<std::uint64_t>(token)},
                   .tokens = request.tokens,
                   .remaining = request.ttl};
}

result<acquire_reply> sqlite_store::ask_rules(const claim& request, consequences& then) {
    for (;;) {
        if (auto answer = ask_rules_in_epoch(request, then)) return *std::move(answer);
        // The tokens of this name reach into those of the next epoch: it has to begin first, for
        // good, or the next boot would begin with tokens that were granted already.
        const auto next = epoch_of(rows_.rows().token);
        raise_epoch(*database_, next, how_.level);
        epoch_ = next;
    }
}

// Nothing happens, and there is no answer, if the token would be of a later epoch.
std::optional<result<acquire_reply>> sqlite_store::ask_rules_in_epoch(const claim& request,
                                                                      consequences& then) {
    transaction step{*database_};
    const auto at = begin_step(request.name);
    then = {};
    auto answer = lease_table::acquire(rows_.rows(), request, at, then);
    if (!answer) return answer;
    if (epoch_of(rows_.rows().token) > epoch_) return {};
    const bool changed = end_step(request.name, at);
    if (request.waits && std::holds_alternative<refused>(*answer)) {
        queued_[request.id] = {request.name, rows_.waits_in_row(request.id)};
    }
    if (changed) step.commit();
    return answer;
}

void sqlite_store::watch_or_forget(const claim_id& claim, result<acquire_reply>& answer,
                                   std::uint64_t cursor, const consequences& then) {
    auto* no = answer ? std::get_if<refused>(&*answer) : nullptr;
    if (no == nullptr) return doorbell_->forget(claim);
    no->cursor = cursor;
    try {
        doorbell_->watch(claim, then.watch);
    } catch (const std::exception&) {
        // Without a watch the claim asks again after refused::retry_after.
    }
}

void sqlite_store::wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) {
    auto& events = doorbell_->events();
    if (forked()) return events.changed(call, forked_failure());
    const auto pass = doorbell_->gate().enter();
    if (pass && !doorbell_->waits().start(call, waiting.id, cursor)) events.changed(call, {});
}

void sqlite_store::end_wait(call_id call) noexcept {
    if (!forked()) doorbell_->waits().end(call);
}

}  // namespace holdfast::sqlite
