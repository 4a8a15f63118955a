#include "stores/redis/store.hpp"

#include <array>
#include <deque>
#include <mutex>
#include <utility>

#include "runtime/loop.hpp"
#include "stores/redis/keys.hpp"
#include "stores/redis/records.hpp"
#include "support/fork.hpp"
#include "support/random.hpp"

namespace holdfast::redis {
namespace {

failure forked_failure() {
    return {.code = errc::forked,
            .detail = "the client was made before fork(); a child opens one of its own"};
}

std::string channel_of(const claim& request) {
    switch (request.what) {
        case kind::shared_mutex:
            return shared_channel(request.name);
        case kind::semaphore:
            return permits_channel(request.name);
        default:
            return mutex_channel(request.name);
    }
}

std::string_view word_for(binding bind) {
    switch (bind) {
        case binding::attach:
            return "attach";
        case binding::detach:
            return "detach";
        default:
            return "keep";
    }
}

/// Collects the answers of commands that were one call.
template <class Answer>
struct gathering {
    gathering(std::size_t count, Answer fill) : answers(count, fill), left(count) {}
    std::vector<Answer> answers;
    std::size_t left;
    std::optional<failure> worst{};

    /// True: that was the last one.
    bool add(std::size_t at, result<Answer> one) {
        std::lock_guard guard{mutex};
        if (one) {
            answers[at] = *one;
        } else if (!worst || one.error().code == errc::outcome_unknown) {
            worst = std::move(one).error();
        }
        return --left == 0;
    }
    result<std::vector<Answer>> all() {
        if (worst) return *std::move(worst);
        return std::move(answers);
    }
    std::mutex mutex;
};

}  // namespace

redis_store::redis_store(settings how, runtime::loop& loop)
    : how_(std::move(how)),
      loop_(loop),
      made_in_(support::fork_generation()),
      self_(to_string(unique_id{{support::random_word(), support::random_word()}})),
      out_(std::make_shared<outlet>()),
      pipeline_(std::make_shared<pipeline>(loop, how_.at)),
      room_(std::make_shared<waiting_room>(out_)),
      listener_(std::make_shared<subscriber>(loop, how_.at, room_)) {
    room_->use(listener_);
}

redis_store::~redis_store() {
    if (!forked()) {
        stop();
        return;
    }
    // The descriptors are the parent's, too, and the loop knows them.
    support::keep_for_ever(std::move(pipeline_));
    support::keep_for_ever(std::move(listener_));
    support::keep_for_ever(std::move(room_));
}

bool redis_store::forked() const noexcept {
    return made_in_ != support::fork_generation();
}

const capabilities& redis_store::caps() const noexcept {
    static const capabilities can{.fencing = true,
                                  .token_blocks = true,
                                  .shared = true,
                                  .semaphores = true,
                                  .inspect = true,
                                  .evict = true,
                                  .kinds_last = true,
                                  .permits_max = 1000,
                                  .ttl_min = std::chrono::milliseconds{10},
                                  .ttl_max = std::chrono::hours{24},
                                  .poll_max = poll_max,
                                  .drift_ppm = 500,
                                  .batch_max = 100};
    return can;
}

void redis_store::start(store_events& events) {
    out_->events = &events;
}

void redis_store::stop() noexcept {
    if (forked()) return;
    out_->gate.close();
    listener_->close();
    pipeline_->close();
}

void redis_store::acquire(call_id call, const claim& request) {
    if (forked()) return out_->events->acquired(call, forked_failure());
    const auto channel = channel_of(request);
    std::optional<std::uint64_t> cursor;
    if (request.waits) cursor = room_->enter(request.id, channel);
    ask_for(request, channel,
            [out = out_, room = room_, call, id = request.id, name = request.name,
             cursor](const result<reply>& said) {
                auto answer = said ? read_acquire(*said) : result<acquire_reply>(said.error());
                if (!answer) answer.error().lock = name;
                auto* no = answer ? std::get_if<refused>(&*answer) : nullptr;
                if (no != nullptr && cursor) {
                    no->cursor = *cursor;
                    room->refused(id);
                } else if (cursor) {
                    room->leave(id);
                }
                const auto pass = out->gate.enter();
                if (pass) out->events->acquired(call, std::move(answer));
            });
}

void redis_store::ask_for(const claim& request, const std::string& channel,
                          pipeline::answered then) {
    const auto records = records_key(request.name);
    const auto token = token_key(request.name);
    const auto waiters = waiters_key(request.name);
    const auto field = field_of(request.id);
    const auto ttl = std::to_string(milliseconds_of(request.ttl));
    const auto tokens = std::to_string(request.tokens);
    const auto permits = std::to_string(request.permits);
    const std::string_view how = request.how == access::shared ? "read" : "write";
    std::vector<std::string_view> keys{request.name, records, token, waiters};
    std::vector<std::string_view> arguments{
        field, ttl, tokens, permits, request.owner, self_, how, request.waits ? "1" : "0"};
    if (request.permits == 0) {
        const auto of_permits = permits_channel(request.name);
        keys.emplace_back(of_permits);
        return pipeline_->run(script::probe, keys, arguments, std::move(then));
    }
    if (request.what == kind::mutex) {
        return pipeline_->run(script::acquire, keys, arguments, std::move(then));
    }
    if (request.what == kind::shared_mutex) {
        arguments.emplace_back(request.next == order::barging ? "1" : "0");
        return pipeline_->run(script::acquire_shared, keys, arguments, std::move(then));
    }
    const auto bytes = bytes_of(request.id);
    const auto capacity = std::to_string(request.capacity);
    keys.emplace_back(channel);
    arguments.insert(arguments.end(), {bytes, capacity});
    pipeline_->run(script::acquire_permits, keys, arguments, std::move(then));
}

void redis_store::wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) {
    if (forked()) return out_->events->changed(call, forked_failure());
    if (!room_->start(call, waiting.id, cursor)) {
        if (const auto pass = out_->gate.enter()) out_->events->changed(call, {});
    }
}

void redis_store::end_wait(call_id call) noexcept {
    if (!forked()) room_->end(call);
}

void redis_store::renew(call_id call, std::span<const renewal_request> requests) {
    if (forked()) return out_->events->renewed(call, forked_failure());
    std::deque<std::string> words;  // what the views look at
    std::vector<std::string_view> keys;
    std::vector<std::string_view> arguments{self_};
    const auto keep = [&](std::string word) -> std::string_view {
        return words.emplace_back(std::move(word));
    };
    for (const auto& [hold, ttl, bind, token] : requests) {
        keys.insert(keys.end(), {hold.name, keep(records_key(hold.name))});
        arguments.insert(arguments.end(), {keep(field_of(hold.id)), keep(bytes_of(hold.id)),
                                           keep(std::to_string(milliseconds_of(ttl))),
                                           keep(std::to_string(token.value())), word_for(bind)});
    }
    pipeline_->run(script::renew, keys, arguments,
                   [out = out_, call, count = requests.size()](const result<reply>& said) {
                       const auto pass = out->gate.enter();
                       if (!pass) return;
                       if (!said) return out->events->renewed(call, said.error());
                       if (said->elements.size() != count) {
                           return out->events->renewed(call, strange("a renewal"));
                       }
                       std::vector<renewal_reply> replies;
                       replies.reserve(count);
                       for (const auto& one : said->elements) {
                           replies.push_back(read_renewal(one));
                       }
                       out->events->renewed(call, std::move(replies));
                   });
}

void redis_store::release(call_id call, std::span<const hold_ref> holds) {
    if (forked()) return out_->events->released(call, forked_failure());
    const auto gathered =
        std::make_shared<gathering<release_reply>>(holds.size(), release_reply::not_held);
    for (std::size_t i = 0; i < holds.size(); ++i) {
        const auto& [name, id] = holds[i];
        room_->leave(id);
        const release_words words{name, id};
        pipeline_->run(script::release, words.keys(), words.arguments(),
                       [out = out_, call, gathered, i](const result<reply>& said) {
                           auto one = !said               ? result<release_reply>(said.error())
                                      : said->number == 1 ? release_reply::released
                                                          : release_reply::not_held;
                           if (!gathered->add(i, std::move(one))) return;
                           if (const auto pass = out->gate.enter()) {
                               out->events->released(call, gathered->all());
                           }
                       });
    }
}

void redis_store::downgrade(call_id call, const renewal_request& request) {
    if (forked()) return out_->events->downgraded(call, forked_failure());
    const auto& [name, id] = request.hold;
    const auto records = records_key(name);
    const auto waiters = waiters_key(name);
    const auto channel = shared_channel(name);
    const auto field = field_of(id);
    const auto ttl = std::to_string(milliseconds_of(request.ttl));
    const std::array<std::string_view, 4> keys{name, records, waiters, channel};
    const std::array<std::string_view, 2> arguments{field, ttl};
    pipeline_->run(script::downgrade, keys, arguments,
                   [out = out_, call, name = name](const result<reply>& said) {
                       const auto pass = out->gate.enter();
                       if (!pass) return;
                       auto answer = said ? result<renewal_reply>(read_renewal(*said))
                                          : result<renewal_reply>(said.error());
                       if (!answer) answer.error().lock = name;
                       out->events->downgraded(call, std::move(answer));
                   });
}

}  // namespace holdfast::redis
