#include "stores/sqlite/doorbell.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "support/random.hpp"

namespace holdfast::sqlite {
namespace {

// How many clients are watched although nobody waits for them just now: a descriptor each.
constexpr std::size_t kept_watches = 32;

}  // namespace

doorbell::doorbell(std::string directory, mode_t mode, runtime::loop& loop)
    : loop_(loop), bells_(std::move(directory), support::new_id(), mode) {
}

// --- watching ---

void doorbell::watch(const claim_id& claim, std::span<const client_id> clients) {
    bool somebody_died = false;
    {
        std::lock_guard guard{mutex_};
        if (stopped_) return;
        listen();
        const auto known = watches_.find(claim);
        const bool same = known != watches_.end() && std::ranges::equal(known->second, clients);
        if (!same) {
            unwatch(claim);
            for (const auto& client : clients) {
                if (client == bells_.self()) continue;
                if (!watch_one(claim, client)) somebody_died = true;
            }
            watches_[claim].assign(clients.begin(), clients.end());
        }
    }
    // It died after the database was asked: then the refusal is out of date.
    if (somebody_died) wake({&claim, 1});
}

bool doorbell::watch_one(const claim_id& claim, const client_id& client) {
    const auto known = watched_.find(client);
    if (known != watched_.end()) {
        known->second->claims.push_back(claim);
        return true;
    }
    auto rope = bells_.grasp(client);
    if (!rope.end) return rope.state != life::dead;
    const auto entry = std::make_shared<watched>(std::move(rope.end));
    entry->claims.push_back(claim);
    watched_.emplace(client, entry);
    // A FIFO without a reader shows an error to its writers.
    entry->death.emplace(loop_, entry->end.get(), runtime::readiness::error,
                         [self = shared_from_this(), client, which = std::weak_ptr{entry}] {
                             self->died(client, which);
                         });
    return true;
}

void doorbell::unwatch(const claim_id& claim) {
    const auto known = watches_.find(claim);
    if (known == watches_.end()) return;
    for (const auto& client : known->second) {
        const auto entry = watched_.find(client);
        if (entry == watched_.end()) continue;
        std::erase(entry->second->claims, claim);
        // Those who meet once meet again: they need not be looked up anew each time.
        if (entry->second->claims.empty() && watched_.size() > kept_watches) watched_.erase(entry);
    }
    watches_.erase(known);
}

void doorbell::forget(const claim_id& claim) {
    waits_.close(claim);
    std::lock_guard guard{mutex_};
    unwatch(claim);
}

void doorbell::died(const client_id& client, const std::weak_ptr<watched>& which) {
    const auto pass = gate_.enter();
    if (!pass) return;
    std::vector<claim_id> claims;
    {
        std::lock_guard guard{mutex_};
        const auto entry = watched_.find(client);
        if (stopped_ || entry == watched_.end() || entry->second != which.lock()) return;
        claims = std::move(entry->second->claims);
        watched_.erase(entry);
        // They will name whom to watch next when they have asked again.
        for (const auto& claim : claims) watches_.erase(claim);
    }
    static_cast<void>(bells_.grasp(client));  // takes down what the dead one left hanging
    wake(claims);
}

// --- hearing ---

void doorbell::hang() {
    std::lock_guard guard{mutex_};
    // Before its descriptor is closed: the loop must not go on with a number that means another.
    const bool listened = reader_.has_value();
    reader_.reset();
    heard_ = -1;
    bells_.hang();
    if (listened) listen();
}

void doorbell::listen() {
    if (reader_) return;
    heard_ = bells_.own();
    if (heard_ < 0) return;
    reader_.emplace(loop_, heard_, runtime::readiness::readable,
                    [self = shared_from_this()] { self->hear(); });
}

std::vector<claim_id> doorbell::read_wakes(bool& overflow) {
    std::vector<claim_id> claims;
    std::array<claim_id, 256> buffer{};
    std::size_t bytes = 0;
    // Bounded: whoever writes faster than this is asked about everything.
    std::size_t size = sizeof buffer;
    for (int round = 0; round < 256 && size == sizeof buffer; ++round) {
        const auto got = ::read(heard_, buffer.data(), sizeof buffer);
        if (got <= 0) break;
        size = static_cast<std::size_t>(got);
        bytes += size;
        if (size % sizeof(claim_id) != 0) overflow = true;  // not written by a client of ours
        claims.insert(claims.end(), buffer.begin(),
                      buffer.begin() + static_cast<std::ptrdiff_t>(size / sizeof(claim_id)));
        // As full as it can be: others may have failed to write, so for all we know everything
        // has changed. The last page of a full FIFO need not be.
        if (bytes + 4096 >= bells_.capacity()) overflow = true;
        if (overflow) claims.clear();
    }
    return claims;
}

void doorbell::hear() {
    const auto pass = gate_.enter();
    if (!pass) return;
    std::vector<claim_id> claims;
    bool overflow = false;
    {
        std::lock_guard guard{mutex_};
        if (stopped_ || !reader_) return;
        claims = read_wakes(overflow);
        reader_->again();
    }
    overflow ? answer(waits_.wake_all()) : wake(claims);
}

// --- ending waits ---

void doorbell::wake(std::span<const claim_id> claims) {
    for (const auto& claim : claims) {
        if (const auto call = waits_.wake(claim)) answer({&*call, 1});
    }
}

void doorbell::answer(std::span<const call_id> calls) {
    for (const auto call : calls) events_->changed(call, {});
}

void doorbell::deliver(std::span<const lease_table::wake> wakes) {
    // Others first: their processes begin to wake up while we go on.
    for (const auto& [client, claim] : wakes) {
        if (client != bells_.self()) bells_.ring(client, claim);
    }
    for (const auto& [client, claim] : wakes) {
        if (client == bells_.self()) wake({&claim, 1});
    }
}

void doorbell::close() noexcept {
    std::lock_guard guard{mutex_};
    stopped_ = true;
    watched_.clear();
    watches_.clear();
    reader_.reset();
    bells_.take_down();
}

}  // namespace holdfast::sqlite
