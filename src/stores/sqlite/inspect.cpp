// What operators see and do.
#include <utility>

#include "stores/sqlite/attempt.hpp"
#include "stores/sqlite/store.hpp"

namespace holdfast::sqlite {

result<std::vector<lock_record>> sqlite_store::list(std::string_view prefix, bool all) {
    if (forked()) return forked_failure();
    return attempt([&]() -> result<std::vector<lock_record>> {
        doorbell_->bells().enter(bells(*database_));
        transaction step{*database_, transaction::mode::read};
        std::vector<std::string> names;
        {
            running row{prepared(*database_, all ? query::names_all : query::names_busy)};
            row->bind_blob(1, prefix);
            while (row->step() && row->bytes(0).starts_with(prefix)) {
                names.emplace_back(row->bytes(0));
            }
        }
        std::vector<lock_record> records;
        for (const auto& name : names) {
            const auto at = begin_step(name);
            auto record = lease_table::describe(name, rows_.rows(), at);
            if (all || !record.holders.empty() || !record.waiters.empty()) {
                records.push_back(std::move(record));
            }
        }
        return records;
    });
}

result<lock_record> sqlite_store::show(std::string_view name) {
    if (forked()) return forked_failure();
    return attempt([&]() -> result<lock_record> {
        doorbell_->bells().enter(bells(*database_));
        transaction step{*database_, transaction::mode::read};
        const auto at = begin_step(name);
        return lease_table::describe(std::string(name), rows_.rows(), at);
    });
}

result<holder_record> sqlite_store::evict(std::string_view name, fencing_token token,
                                          std::string_view who) {
    if (forked()) return forked_failure();
    const auto pass = doorbell_->gate().enter();
    if (!pass) return failure{.code = errc::cancelled, .detail = "the store was stopped"};
    consequences then;
    auto answer = attempt([&]() -> result<holder_record> {
        doorbell_->bells().enter(bells(*database_));
        transaction step{*database_};
        const auto at = begin_step(name);
        auto evicted = lease_table::evict(rows_.rows(), token, at, then);
        if (!evicted) {
            return failure{.code = errc::not_held,
                           .detail = "no hold carries the token " + std::to_string(token.value()),
                           .lock = std::string(name)};
        }
        end_step(name, at);
        running line{prepared(*database_, query::add_audit)};
        line->bind_text(1, who).bind_blob(2, name);
        line->bind(3, static_cast<std::int64_t>(token.value())).bind_text(4, evicted->owner);
        line->step();
        prepared(*database_, query::cut_audit).step();
        step.commit();
        return *std::move(evicted);
    });
    if (answer) deliver(then);
    return answer;
}

}  // namespace holdfast::sqlite
