// A lease table for tests: the rows of one name and the circumstances of the next step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "stores/lease_table/lease_table.hpp"

namespace holdfast::lease_table {

inline claim_id id_of(std::uint64_t number) {
    return {{number, 0}};
}
inline client_id client_of(std::uint64_t number) {
    return {{number, 1}};
}

inline claim plain() {
    claim what;
    what.name = "x";
    return what;
}
inline claim writer() {
    auto what = plain();
    what.what = kind::shared_mutex;
    return what;
}
inline claim reader() {
    auto what = writer();
    what.how = access::shared;
    return what;
}
inline claim probe() {
    auto what = plain();
    what.permits = 0;
    return what;
}
inline claim permits(std::uint32_t count, std::uint32_t capacity) {
    auto what = plain();
    what.what = kind::semaphore;
    what.how = access::shared;
    what.permits = count;
    what.capacity = capacity;
    return what;
}

/// Clients whose processes have ended.
class deaths final : public process_table {
  public:
    explicit deaths(std::set<std::uint64_t> clients) : dead_(std::move(clients)) {}
    bool alive(const client_id& client) const override { return !dead_.contains(client.words[0]); }

  private:
    std::set<std::uint64_t> dead_;
};

/// Claims are numbered. The client of a claim is `as`, by default 100 plus the claim's number.
struct table {
    lock_rows rows{};
    moment at{.now = time_point{std::chrono::hours{1}}, .self = {}, .floor = {}};
    duration ttl = std::chrono::seconds{30};
    consequences then{};

    /// True if granted. A claim that waits is queued otherwise.
    bool ask(std::uint64_t number, claim what, bool waits = false, std::uint64_t as = 0) {
        what.id = id_of(number);
        what.ttl = ttl;
        what.waits = waits;
        at.self = client_of(as != 0 ? as : 100 + number);
        then = {};
        const auto answer = acquire(rows, what, at, then);
        return answer && std::holds_alternative<granted>(*answer);
    }
    void hold(std::uint64_t number, const claim& what, std::uint64_t as = 0) {
        if (!ask(number, what, false, as)) throw std::logic_error("the test wants it granted");
    }
    void queue(std::uint64_t number, const claim& what, std::uint64_t as = 0) {
        if (ask(number, what, true, as)) throw std::logic_error("the test wants it refused");
    }
    /// Releases or withdraws; the numbers of the claims that are woken by it.
    std::vector<std::uint64_t> free(std::uint64_t number) {
        then = {};
        release(rows, id_of(number), at, then);
        return woken();
    }
    renewal_reply renew(std::uint64_t number, duration how_long) {
        then = {};
        return lease_table::renew(rows, {.hold = {"x", id_of(number)}, .ttl = how_long}, at, then);
    }
    std::vector<std::uint64_t> woken() const {
        std::vector<std::uint64_t> numbers;
        for (const auto& one : then.wakes) numbers.push_back(one.claim.words[0]);
        return numbers;
    }
    std::vector<std::uint64_t> watched() const {
        std::vector<std::uint64_t> numbers;
        for (const auto& one : then.watch) numbers.push_back(one.words[0]);
        return numbers;
    }
    std::uint64_t held_weight() const {
        std::uint64_t sum = 0;
        for (const auto& one : rows.holds) sum += one.permits;
        return sum;
    }
};

}  // namespace holdfast::lease_table
