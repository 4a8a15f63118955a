// The SQLite store: several processes of one machine share locks through one database file.
//
// Every verb is one write transaction: read the rows of the name, apply the rules of the lease
// table, write what differs, and after the commit wake those whose turn has come. The three steps
// that make up nearly all of the work have a statement of their own that does the same at once,
// for the case in which at most one other is concerned: granting a free name, also to the only one
// who waits for it; releasing a hold and calling the only waiter; renewing a hold. Where they find
// anything else they change nothing.
//
// What can go wrong here: another process may keep a transaction open for longer than we wait
// (errc::unavailable); the disk may be full or broken (unavailable, or outcome_unknown when it
// broke while committing); the file may be removed or replaced while we have it open (bad_reply,
// for good: others may by then hold what we hold). A child made by fork() may not touch any of it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include <holdfast/store.hpp>

#include "runtime/registry.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/doorbell.hpp"
#include "stores/sqlite/rows.hpp"
#include "stores/sqlite/schema.hpp"

namespace holdfast::sqlite {

/// What the URL says.
struct settings {
    std::string path{};
    std::string shown{};
    durability level = durability::normal;
    bool any_file_system = false;
    duration busy_max = busy_max_default;
};
result<settings> read_settings(const runtime::store_url& where);

class sqlite_store final : public store, public inspector {
  public:
    static result<std::unique_ptr<store>> open(settings how, runtime::loop& loop);
    /// As open(), but throws database_error.
    sqlite_store(settings how, runtime::loop& loop);
    ~sqlite_store() override;
    sqlite_store(const sqlite_store&) = delete;
    sqlite_store& operator=(const sqlite_store&) = delete;

    const capabilities& caps() const noexcept override { return caps_; }
    const std::string& where() const noexcept override { return how_.shown; }
    void start(store_events& events) override;
    void stop() noexcept override;

    void acquire(call_id call, const claim& request) override;
    void wait(call_id call, const hold_ref& waiting, std::uint64_t cursor) override;
    void end_wait(call_id call) noexcept override;
    void renew(call_id call, std::span<const renewal_request> requests) override;
    void release(call_id call, std::span<const hold_ref> holds) override;
    void downgrade(call_id call, const renewal_request& request) override;
    inspector& inspect() override { return *this; }

    result<std::vector<lock_record>> list(std::string_view prefix, bool all) override;
    result<lock_record> show(std::string_view name) override;
    result<holder_record> evict(std::string_view name, fencing_token token,
                                std::string_view who) override;
    std::vector<finding> examine() override;

    /// For tests: drops the rows of names that nobody has used for `idle`, a bounded number per
    /// call. The store does it by itself now and then.
    void prune(duration idle);

  private:
    using consequences = lease_table::consequences;
    using moment = lease_table::moment;

    /// A claim that we have in a queue.
    struct queued_claim {
        std::string name;
        bool in_row;  ///< where the statement that grants a free name finds it
    };

    bool forked() const noexcept;
    template <class Work>
    auto attempt(Work work) -> decltype(work());

    // One step of the lease table on the rows of one name. All within a transaction.
    moment begin_step(std::string_view name);
    bool end_step(std::string_view name, const moment& at);

    // Under mutex_.
    result<acquire_reply> grant_or_refuse(const claim& request,
                                          std::optional<std::uint64_t>& cursor, consequences& then);
    std::optional<granted> grant_free(const claim& request, time_point now);
    result<acquire_reply> ask_rules(const claim& request, consequences& then);
    std::optional<result<acquire_reply>> ask_rules_in_epoch(const claim& request,
                                                            consequences& then);
    std::vector<renewal_reply> renew_all(std::span<const renewal_request> requests,
                                         consequences& then);
    bool renew_plain(const renewal_request& request, time_point now);
    std::vector<release_reply> release_all(std::span<const hold_ref> holds, consequences& then);
    bool release_plain(const hold_ref& hold, consequences& then);
    void require_files();
    void require_files_now_and_then(time_point now);
    void require_file();
    void require_bell();
    void withdraw_queued(consequences& then);

    void watch_or_forget(const claim_id& claim, result<acquire_reply>& answer, std::uint64_t cursor,
                         const consequences& then);
    void deliver(const consequences& then) noexcept;
    void tidy_up() noexcept;

    void find_about_file(std::vector<finding>& found);
    void find_about_content(std::vector<finding>& found);
    void find_about_clients(std::vector<finding>& found);

    settings how_;
    capabilities caps_;
    std::uint32_t made_in_;
    std::shared_ptr<doorbell> doorbell_;

    std::mutex mutex_;
    std::unique_ptr<database> database_;
    std::unique_ptr<fork_guard::connection> quiet_at_fork_;
    std::uint64_t epoch_ = 0;
    name_rows rows_;
    row_places places_;
    std::unordered_map<claim_id, queued_claim> queued_;
    time_point checked_{};
    bool file_gone_ = false;
    std::int64_t prune_after_ = 0;  ///< where pruning goes on
    std::atomic<std::uint32_t> releases_;
    bool stopped_ = false;
};

}  // namespace holdfast::sqlite
