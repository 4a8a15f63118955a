// Which keys and channels belong to a name, as Redisson derives them (org.redisson.RedissonObject:
// prefixName, suffixName).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <holdfast/types.hpp>

namespace holdfast::redis {

/// `prefix:{name}`, or `prefix:name` if the name contains a brace: one slot for all of a name.
std::string with_prefix(std::string_view prefix, std::string_view name);

/// The hash field of a claim: as Redisson's, a UUID and a number.
std::string field_of(const claim_id& id);
/// The same as 16 bytes, the first of its permits.
std::string bytes_of(const claim_id& id);
/// The claim of a field; zero if we did not write it.
claim_id claim_of(std::string_view field) noexcept;

/// The lock itself is the key that has the name.
inline std::string records_key(std::string_view name) {
    return with_prefix("holdfast_records", name);
}
inline std::string token_key(std::string_view name) {
    return with_prefix("redisson_lock_token", name);
}
inline std::string waiters_key(std::string_view name) {
    return with_prefix("holdfast_waiters", name);
}
inline std::string mutex_channel(std::string_view name) {
    return with_prefix("redisson_lock__channel", name);
}
inline std::string shared_channel(std::string_view name) {
    return with_prefix("redisson_rwlock", name);
}
inline std::string permits_channel(std::string_view name) {
    return with_prefix("redisson_sc", name);
}

/// The keys and arguments of script::release.
struct release_words {
    release_words(std::string_view of, const claim_id& claim)
        : name(of),
          records(records_key(of)),
          waiters(waiters_key(of)),
          of_mutex(mutex_channel(of)),
          of_shared(shared_channel(of)),
          of_permits(permits_channel(of)),
          field(field_of(claim)),
          bytes(bytes_of(claim)) {}
    std::array<std::string_view, 6> keys() const {
        return {name, records, waiters, of_mutex, of_shared, of_permits};
    }
    std::array<std::string_view, 2> arguments() const { return {field, bytes}; }
    std::string_view name;
    std::string records;
    std::string waiters;
    std::string of_mutex;
    std::string of_shared;
    std::string of_permits;
    std::string field;
    std::string bytes;
};

}  // namespace holdfast::redis
