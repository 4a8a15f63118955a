#include "stores/memory/world.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "support/random.hpp"

namespace holdfast::memory {
namespace {

failure unreachable() {
    return {.code = errc::unavailable, .detail = "the store was made unreachable by a test"};
}

}  // namespace

std::unique_ptr<memory_store> world::connect() {
    return std::make_unique<memory_store>(shared_from_this(), support::new_id());
}

// One atomic step on the rows of a name. Wake-ups leave after the mutex is released.
template <class Step>
auto world::apply(const client_id& self, const std::string& name, Step&& decide) {
    lease_table::consequences then;
    auto answer = [&] {
        std::lock_guard guard{mutex_};
        const auto entry = table_.try_emplace(name).first;
        const lease_table::moment at{.now = clock_(), .self = self, .floor = floor_};
        auto decided = decide(entry->second, at, then);
        settle(entry);
        return decided;
    }();
    if (!then.wakes.empty()) deliver(then.wakes);
    return answer;
}

// A name that nobody uses is forgotten, but not its token: no later one may be lower.
void world::settle(table::iterator entry) {
    const auto& rows = entry->second;
    if (!rows.holds.empty() || !rows.waiters.empty()) return;
    floor_ = std::max(floor_, rows.token);
    table_.erase(entry);
}

void world::deliver(const std::vector<lease_table::wake>& wakes) {
    for (const auto& wake : wakes) {
        std::optional<call_id> call;
        std::shared_ptr<mailbox> mail;
        {
            std::lock_guard guard{mutex_};
            const auto client = clients_.find(wake.client);
            if (client == clients_.end() || client->second.store->cut_) continue;
            call = client->second.store->waits_.wake(wake.claim);
            mail = client->second.mail;
        }
        if (!call) continue;
        if (const auto pass = mail->gate.enter()) mail->to.changed(*call, {});
    }
}

void world::lose(const hold_ref& hold, loss_reason why, bool told) {
    client_id owner;
    apply({}, hold.name, [&](auto& rows, const auto& at, auto& then) {
        const auto found = std::ranges::find(rows.holds, hold.id, &lease_table::hold_row::claim);
        if (found != rows.holds.end()) owner = found->client;
        return lease_table::release(rows, hold.id, at, then);
    });
    if (!told) return;
    std::shared_ptr<mailbox> mail;
    {
        std::lock_guard guard{mutex_};
        const auto client = clients_.find(owner);
        if (client != clients_.end()) mail = client->second.mail;
    }
    if (!mail) return;
    if (const auto pass = mail->gate.enter()) mail->to.gone(hold, why);
}

lock_record world::show(const std::string& name) {
    std::lock_guard guard{mutex_};
    const auto entry = table_.find(name);
    if (entry == table_.end()) return {.name = name, .holders = {}, .waiters = {}};
    return lease_table::describe(name, entry->second, {.now = clock_(), .self = {}, .floor = {}});
}

memory_store::memory_store(std::shared_ptr<world> in, const client_id& self)
    : world_(std::move(in)), self_(self) {
}

memory_store::~memory_store() {
    stop();
}

const capabilities& memory_store::caps() const noexcept {
    static const capabilities can = lease_table::facts();
    return can;
}

const std::string& memory_store::where() const noexcept {
    static const std::string url = "memory:";
    return url;
}

void memory_store::start(store_events& events) {
    events_ = &events;
    mail_ = std::make_shared<mailbox>(events);
    std::lock_guard guard{world_->mutex_};
    world_->clients_.emplace(self_, world::member{this, mail_});
}

void memory_store::stop() noexcept {
    std::vector<lease_table::wake> wakes;
    {
        std::lock_guard guard{world_->mutex_};
        if (world_->clients_.erase(self_) == 0) return;
        const lease_table::moment at{
            .now = world_->clock_(), .self = self_, .floor = world_->floor_};
        for (auto entry = world_->table_.begin(); entry != world_->table_.end();) {
            lease_table::consequences then;
            lease_table::forget_client(entry->second, self_, at, then);
            wakes.insert(wakes.end(), then.wakes.begin(), then.wakes.end());
            world_->settle(entry++);
        }
    }
    mail_->gate.close();
    world_->deliver(wakes);
}

void memory_store::acquire(call_id call, const claim& request) {
    if (cut_) return events_->acquired(call, unreachable());
    bool waits = false;
    auto answer = world_->apply(self_, request.name, [&](auto& rows, const auto& at, auto& then) {
        auto told = lease_table::acquire(rows, request, at, then);
        auto* no = told && request.waits ? std::get_if<refused>(&*told) : nullptr;
        // Before anybody else can call it.
        if (no != nullptr) waits = true, no->cursor = waits_.open(request.id);
        return told;
    });
    if (request.waits && !waits) waits_.close(request.id);
    events_->acquired(call, std::move(answer));
}

void memory_store::wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) {
    if (!waits_.start(call, waiting.id, cursor)) events_->changed(call, {});
}

void memory_store::end_wait(call_id call) noexcept {
    waits_.end(call);
}

void memory_store::renew(call_id call, std::span<const renewal_request> requests) {
    if (cut_) return events_->renewed(call, unreachable());
    std::vector<renewal_reply> replies;
    replies.reserve(requests.size());
    for (const auto& request : requests) {
        replies.push_back(
            world_->apply(self_, request.hold.name, [&](auto& rows, const auto& at, auto& then) {
                return lease_table::renew(rows, request, at, then);
            }));
    }
    events_->renewed(call, std::move(replies));
}

void memory_store::release(call_id call, std::span<const hold_ref> holds) {
    if (cut_) return events_->released(call, unreachable());
    std::vector<release_reply> replies;
    replies.reserve(holds.size());
    for (const auto& hold : holds) {
        waits_.close(hold.id);
        replies.push_back(
            world_->apply(self_, hold.name, [&](auto& rows, const auto& at, auto& then) {
                return lease_table::release(rows, hold.id, at, then);
            }));
    }
    events_->released(call, std::move(replies));
}

void memory_store::downgrade(call_id call, const renewal_request& request) {
    if (cut_) return events_->downgraded(call, unreachable());
    auto reply =
        world_->apply(self_, request.hold.name, [&](auto& rows, const auto& at, auto& then) {
            return lease_table::downgrade(rows, request, at, then);
        });
    events_->downgraded(call, reply);
}

result<std::vector<lock_record>> memory_store::list(std::string_view prefix, bool) {
    std::vector<lock_record> records;
    {
        std::lock_guard guard{world_->mutex_};
        const lease_table::moment at{.now = world_->clock_(), .self = self_, .floor = {}};
        for (const auto& [name, rows] : world_->table_) {
            if (!name.starts_with(prefix)) continue;
            auto record = lease_table::describe(name, rows, at);
            if (!record.holders.empty() || !record.waiters.empty()) {
                records.push_back(std::move(record));
            }
        }
    }
    std::ranges::sort(records, {}, &lock_record::name);
    return records;
}

result<lock_record> memory_store::show(std::string_view name) {
    return world_->show(std::string(name));
}

result<holder_record> memory_store::evict(std::string_view name, fencing_token token,
                                          std::string_view) {
    auto ended =
        world_->apply(self_, std::string(name), [&](auto& rows, const auto& at, auto& then) {
            return lease_table::evict(rows, token, at, then);
        });
    if (ended) return *std::move(ended);
    return failure{.code = errc::not_held,
                   .detail = "no hold of this name carries that token",
                   .lock = std::string(name)};
}

std::vector<finding> memory_store::examine() {
    return {{.severity = finding::level::note,
             .subject = "memory store",
             .text = "Locks in memory exclude the threads of one process only.",
             .advice = "Use sqlite: for several processes of one machine."}};
}

}  // namespace holdfast::memory
