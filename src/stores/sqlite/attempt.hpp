// The border at which exceptions of this folder become failures.
#pragma once

#include <exception>
#include <utility>

#include <holdfast/result.hpp>

#include "stores/sqlite/database.hpp"
#include "stores/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Runs work that returns a result.
template <class Work>
auto attempt_to(Work work) -> decltype(work()) {
    try {
        return work();
    } catch (const database_error& error) {
        return error.why();
    } catch (const std::exception& error) {
        // No memory, or no descriptor: nothing was committed.
        return failure{.code = errc::unavailable, .detail = error.what()};
    }
}

template <class Work>
auto sqlite_store::attempt(Work work) -> decltype(work()) {
    return attempt_to([&] {
        std::lock_guard guard{mutex_};
        return work();
    });
}

inline failure forked_failure() {
    return {.code = errc::forked,
            .detail = "this store was opened by the parent process; open it again in the child"};
}

}  // namespace holdfast::sqlite
