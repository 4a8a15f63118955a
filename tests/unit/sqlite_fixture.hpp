// What the tests of the SQLite store share: a directory of their own, stores that answer at once,
// and other processes to kill.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/store.hpp>

#include "runtime/loop.hpp"
#include "stores/sqlite/store.hpp"
#include "support/random.hpp"

namespace holdfast::sqlite_test {

using namespace std::chrono_literals;

/// The longest that anything which has to happen may take; only a failing test waits so long.
inline constexpr auto deadline = 20s;

class directory {
  public:
    directory() {
        std::string pattern = std::filesystem::temp_directory_path() / "holdfast-XXXXXX";
        path_ = ::mkdtemp(pattern.data());
    }
    ~directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    directory(const directory&) = delete;
    directory& operator=(const directory&) = delete;
    std::string file(const std::string& name = "locks.db") const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// A store with its own loop in a thread, and its answers as return values.
class client final : public store_events {
  public:
    explicit client(const std::string& path) : client(sqlite::settings{.path = path}) {}
    explicit client(sqlite::settings how) : it_(std::move(how), loop_) { it_.start(*this); }
    ~client() {
        it_.stop();
        loop_.stop();
    }

    sqlite::sqlite_store& it() { return it_; }

    result<acquire_reply> acquire(const claim& request) {
        return call<result<acquire_reply>>(acquired_,
                                           [&](call_id id) { it_.acquire(id, request); });
    }
    result<std::vector<renewal_reply>> renew(std::span<const renewal_request> requests) {
        return call<result<std::vector<renewal_reply>>>(
            renewed_, [&](call_id id) { it_.renew(id, requests); });
    }
    renewal_reply renew(const renewal_request& request) {
        auto all = renew(std::span{&request, 1});
        return all ? all->front() : throw lock_error(all.error());
    }
    result<std::vector<release_reply>> release(std::span<const hold_ref> holds) {
        return call<result<std::vector<release_reply>>>(
            released_, [&](call_id id) { it_.release(id, holds); });
    }
    bool release(const std::string& name, const claim_id& id) {
        const hold_ref hold{name, id};
        auto all = release(std::span{&hold, 1});
        return (all ? all->front() : throw lock_error(all.error())) == release_reply::released;
    }
    result<renewal_reply> downgrade(const renewal_request& request) {
        return call<result<renewal_reply>>(downgraded_,
                                           [&](call_id id) { it_.downgrade(id, request); });
    }

    /// Starts a wait; woken() tells when it has ended.
    call_id wait(const std::string& name, const claim_id& id, std::uint64_t cursor) {
        run_loop();
        const call_id call = next();
        it_.wait(call, {name, id}, cursor);
        return call;
    }
    bool woken(call_id call, std::chrono::milliseconds limit = deadline) {
        std::unique_lock lock{mutex_};
        return changed_signal_.wait_for(lock, limit, [&] { return changed_.contains(call); });
    }

    void acquired(call_id call, result<acquire_reply> answer) override {
        put(acquired_, call, std::move(answer));
    }
    void changed(call_id call, result<void>) override {
        std::lock_guard guard{mutex_};
        changed_[call] = true;
        changed_signal_.notify_all();
    }
    void renewed(call_id call, result<std::vector<renewal_reply>> answer) override {
        put(renewed_, call, std::move(answer));
    }
    void released(call_id call, result<std::vector<release_reply>> answer) override {
        put(released_, call, std::move(answer));
    }
    void downgraded(call_id call, result<renewal_reply> answer) override {
        put(downgraded_, call, std::move(answer));
    }
    void gone(const hold_ref&, loss_reason) override {}

    /// Waits are ended by a thread that runs the loop from the first wait on.
    void run_loop() {
        loop_.post([] {});
    }

  private:
    call_id next() {
        std::lock_guard guard{mutex_};
        return ++last_call_;
    }
    template <class Map, class Answer>
    void put(Map& into, call_id call, Answer answer) {
        std::lock_guard guard{mutex_};
        into.emplace(call, std::move(answer));
    }
    template <class Answer, class Map, class Ask>
    Answer call(Map& answers, Ask ask) {
        const call_id id = next();
        ask(id);
        std::lock_guard guard{mutex_};
        auto found = answers.extract(id);
        if (found.empty()) {
            return failure{.code = errc::cancelled, .detail = "no answer from inside the call"};
        }
        return std::move(found.mapped());
    }

    std::mutex mutex_;
    std::condition_variable changed_signal_;
    call_id last_call_ = 0;
    std::map<call_id, result<acquire_reply>> acquired_;
    std::map<call_id, result<std::vector<renewal_reply>>> renewed_;
    std::map<call_id, result<std::vector<release_reply>>> released_;
    std::map<call_id, result<renewal_reply>> downgraded_;
    std::map<call_id, bool> changed_;
    runtime::loop loop_;
    sqlite::sqlite_store it_;
};

inline claim mutex_claim(std::string name, bool waits = false, duration ttl = 60s) {
    return {.name = std::move(name),
            .id = support::new_id(),
            .ttl = ttl,
            .waits = waits,
            .owner = "host/1/test"};
}

/// What was granted, or a test failure and zeros.
inline granted must_grant(const result<acquire_reply>& answer) {
    if (!answer) {
        ADD_FAILURE() << answer.error().message();
        return {};
    }
    const auto* yes = std::get_if<granted>(&*answer);
    if (yes == nullptr) ADD_FAILURE() << "refused";
    return yes == nullptr ? granted{} : *yes;
}

inline refused must_refuse(const result<acquire_reply>& answer) {
    if (!answer) {
        ADD_FAILURE() << answer.error().message();
        return {};
    }
    const auto* no = std::get_if<refused>(&*answer);
    if (no == nullptr) ADD_FAILURE() << "granted";
    return no == nullptr ? refused{} : *no;
}

}  // namespace holdfast::sqlite_test
