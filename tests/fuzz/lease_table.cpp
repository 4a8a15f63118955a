// The lease table against a naive model, by sequences of random steps of a few clients on one name:
// never over the capacity, tokens rise, nothing is revived, nothing expired is granted, and in the
// end everybody who still waits is served.
#include "stores/lease_table/lease_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::lease_table;

void require(bool what) {
    if (!what) std::abort();
}

struct life_table final : process_table {
    bool alive(const client_id& client) const override { return !dead.contains(client.words[0]); }
    std::set<std::uint64_t> dead;
};

/// What a holder may believe, kept apart from the table.
struct model_hold {
    claim what;
    time_point expires{};
    std::uint64_t client = 0;
    bool exclusive = false;
    bool bound = true;
};

class machine {
  public:
    void step(unsigned char verb, unsigned char argument) {
        at_.now += duration{argument % 7} * 1'000'000;
        switch (verb % 10) {
            case 0:
            case 1:
                return ask(argument, verb >= 128);
            case 2:
                return let_go(argument);
            case 3:
                return prolong(argument);
            case 4:
                return die(argument);
            case 5:
                at_.now += std::chrono::seconds{argument % 32};
                return;
            case 6:
                return break_hold(argument);
            case 7:
                return lower(argument);
            case 8:
                return detach(argument);
            default:
                return ask_again(argument);
        }
    }

    // Everything that holds goes away; then every living waiter is served within as many rounds.
    void finish() {
        at_.processes = &lives_;
        std::vector<claim> waiting;
        for (const auto& [id, what] : known_) {
            if (is_waiting(id) && !lives_.dead.contains(client_of(id))) waiting.push_back(what);
        }
        for (std::size_t round = 0; !waiting.empty(); ++round) {
            require(round < 200);
            at_.now += std::chrono::milliseconds{300};
            for (std::size_t i = 0; i < waiting.size();) {
                if (put(waiting[i])) {
                    let_go_of(waiting[i].id);
                    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
                } else {
                    ++i;
                }
            }
            for (const auto& hold : std::vector(rows_.holds)) let_go_of(hold.claim);
        }
    }

  private:
    static std::uint64_t client_of(const claim_id& id) { return id.words[0] % 4; }
    bool is_waiting(const claim_id& id) const {
        return std::ranges::find(rows_.waiters, id, &waiter_row::claim) != rows_.waiters.end();
    }

    claim make(unsigned char from) const {
        claim what;
        what.name = "x";
        what.ttl = std::chrono::seconds{1 + from % 9};
        what.waits = (from & 16U) != 0;
        what.next = (from & 32U) != 0 ? order::barging : order::standard;
        what.tokens = 1 + from % 3;
        switch (from % 5) {
            case 0:
                break;
            case 1:
                what.what = kind::shared_mutex;
                break;
            case 2:
                what.what = kind::shared_mutex;
                what.how = access::shared;
                break;
            case 3:
                what.permits = 0;
                break;
            default:
                what.what = kind::semaphore;
                what.how = access::shared;
                what.capacity = 3;
                what.permits = 1 + from / 5 % 3;
        }
        return what;
    }

    void ask(unsigned char from, bool second_client) {
        auto what = make(from);
        what.id = {{next_++ * 4 + (second_client ? 1U : 0U) + (from & 2U), 9}};
        if (lives_.dead.contains(client_of(what.id))) return;
        known_[what.id] = what;
        put(what);
    }
    void ask_again(unsigned char which) {
        if (known_.empty()) return;
        const auto& what =
            std::next(known_.begin(), which % static_cast<int>(known_.size()))->second;
        if (!lives_.dead.contains(client_of(what.id))) put(what);
    }

    // True if it holds now.
    bool put(const claim& what) {
        at_.self = {{client_of(what.id), 1}};
        at_.processes = &lives_;
        forget_ended();
        const bool held_before = model_.contains(what.id);
        consequences then;
        const auto answer = acquire(rows_, what, at_, then);
        if (!answer) {
            require(answer.error().code == errc::mismatch && what.permits != 0);
            return false;
        }
        const auto* yes = std::get_if<granted>(&*answer);
        if (yes == nullptr) {
            require(!held_before);
            require(!what.waits || is_waiting(what.id));
            return false;
        }
        require(!is_waiting(what.id));
        if (what.permits == 0) return true;
        if (!held_before) {
            require(yes->token > newest_ && yes->remaining == what.ttl);
            newest_ = fencing_token{yes->token.value() + yes->tokens - 1};
            model_[what.id] = {what, at_.now + what.ttl, client_of(what.id),
                               what.how == access::exclusive, true};
        }
        check();
        return true;
    }

    void forget_ended() {
        std::erase_if(model_, [&](const auto& one) {
            const auto& hold = one.second;
            return hold.expires <= at_.now || (hold.bound && lives_.dead.contains(hold.client));
        });
    }

    // Of the holds that are believed in: one exclusive alone, or shared ones, or permits that fit.
    void check() {
        forget_ended();
        std::uint32_t permits = 0;
        std::size_t exclusive = 0;
        std::size_t semaphores = 0;
        for (const auto& [id, hold] : model_) {
            permits += hold.what.permits;
            exclusive += hold.exclusive ? 1 : 0;
            semaphores += hold.what.what == kind::semaphore ? 1 : 0;
            require(std::ranges::find(rows_.holds, id, &hold_row::claim) != rows_.holds.end());
        }
        require(exclusive == 0 || model_.size() == 1);
        require(semaphores == 0 || (semaphores == model_.size() && permits <= 3));
        require(std::ranges::is_sorted(rows_.waiters, {}, &waiter_row::ticket));
    }

    claim_id any(unsigned char which) const {
        if (known_.empty()) return {};
        return std::next(known_.begin(), which % static_cast<int>(known_.size()))->first;
    }
    void let_go(unsigned char which) { let_go_of(any(which)); }
    void let_go_of(const claim_id& id) {
        consequences then;
        forget_ended();
        const bool held = model_.erase(id) != 0;
        const bool waits = is_waiting(id);
        const auto reply = release(rows_, id, at_, then);
        require(!held || reply == release_reply::released);
        require(held || waits || reply == release_reply::not_held || !lives_.dead.empty());
        check();
    }
    void prolong(unsigned char which) {
        const auto id = any(which);
        consequences then;
        forget_ended();
        at_.self = {{client_of(id), 1}};
        const duration ttl = std::chrono::seconds{1 + which % 5};
        const auto reply = renew(rows_, {.hold = {"x", id}, .ttl = ttl}, at_, then);
        const auto found = model_.find(id);
        if (found == model_.end()) {
            require(reply.lost != loss_reason::none || !lives_.dead.empty());
            return;
        }
        require(reply.lost == loss_reason::none && reply.remaining >= ttl);
        found->second.expires = std::max(found->second.expires, at_.now + ttl);
        require(reply.remaining == found->second.expires - at_.now);
    }
    void detach(unsigned char which) {
        const auto found = model_.find(any(which));
        if (found == model_.end()) return;
        forget_ended();
        if (!model_.contains(any(which))) return;
        consequences then;
        at_.self = {{found->second.client, 1}};
        const auto bind = which % 2 == 0 ? binding::detach : binding::attach;
        const auto reply = renew(
            rows_, {.hold = {"x", found->first}, .ttl = std::chrono::seconds{1}, .bind = bind}, at_,
            then);
        require(reply.lost == loss_reason::none);
        found->second.bound = bind == binding::attach;
        found->second.expires = std::max(found->second.expires, at_.now + std::chrono::seconds{1});
    }
    void lower(unsigned char which) {
        const auto found = model_.find(any(which));
        if (found == model_.end() || !found->second.exclusive) return;
        forget_ended();
        if (!model_.contains(any(which))) return;
        consequences then;
        const auto reply = downgrade(
            rows_, {.hold = {"x", found->first}, .ttl = std::chrono::seconds{1}}, at_, then);
        require(reply.lost == loss_reason::none && reply.how == access::shared);
        found->second.exclusive = false;
        found->second.expires = std::max(found->second.expires, at_.now + std::chrono::seconds{1});
    }
    void die(unsigned char which) {
        // One client always lives, so that somebody can find the others dead.
        if (which % 8 == 0) lives_.dead.insert(1 + which / 8 % 3);
        if (which % 8 == 1) {
            const std::uint64_t leaving = 1 + which / 8 % 3;
            consequences then;
            forget_client(rows_, {{leaving, 1}}, at_, then);
            std::erase_if(model_, [&](const auto& one) {
                return one.second.bound && one.second.client == leaving;
            });
            lives_.dead.insert(leaving);
        }
    }
    void break_hold(unsigned char which) {
        consequences then;
        const fencing_token token{which % 16U};
        if (const auto ended = evict(rows_, token, at_, then)) {
            model_.erase(ended->claim);
            require(rows_.token > newest_);
            newest_ = rows_.token;
        }
        check();
    }

    lock_rows rows_;
    moment at_{.now = time_point{std::chrono::hours{1}}, .self = {}, .floor = {}};
    life_table lives_;
    std::map<claim_id, claim> known_;
    std::map<claim_id, model_hold> model_;
    fencing_token newest_;
    std::uint64_t next_ = 1;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    machine m;
    for (std::size_t i = 0; i + 1 < std::min<std::size_t>(size, 200); i += 2)
        m.step(data[i], data[i + 1]);
    m.finish();
    return 0;
}
