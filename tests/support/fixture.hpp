// What the conformance suite needs of a store: one subclass per store, in a file of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/store.hpp>

namespace holdfast::tests {

/// One store, empty at the start of a test, and its time.
class fixture {
  public:
    virtual ~fixture() = default;

    /// A store object like the one of another process. Events that need a thread find one.
    virtual std::unique_ptr<store> make() = 0;
    /// A client like the one of another process.
    virtual client connect(client_options options = {}) = 0;
    /// Asks the store by a route that none of our code takes, as far as there is one.
    virtual bool really_held(const std::string& name) = 0;

    /// A ttl that can be waited for.
    virtual duration ttl() const = 0;
    /// Lets this much of the store's time go by, and everything that falls due.
    virtual void pass(duration how_long) = 0;
    /// Lets time go by until it is so; false if it is not so after `limit`.
    virtual bool until(const std::function<bool()>& it_is_so, duration limit) = 0;
    bool until(const std::function<bool()>& it_is_so) {
        return until(it_is_so, std::chrono::seconds{20} + 2 * ttl());
    }
    /// From now on clients live by the machine's clock: for tests with several threads. Before the
    /// first call to connect().
    virtual void with_threads() {}

    /// Makes the store unreachable for this client; false if this store cannot.
    virtual bool cut(const client&) { return false; }
    virtual void heal(const client&) {}
    /// What has reached the store so far; only where the fixture counts it.
    virtual std::optional<std::size_t> requests() const { return {}; }
    /// Everything of the store ends and begins again; false if it does not keep its data.
    virtual bool restart() { return false; }
};

/// How a fixture is made, and what it is called in the names of tests.
struct fixture_kind {
    const char* name;
    std::unique_ptr<fixture> (*make)();
    friend std::ostream& operator<<(std::ostream& to, const fixture_kind& kind) {
        return to << kind.name;
    }
};

std::unique_ptr<fixture> make_memory_fixture();
/// The memory store with every optional capability taken away: what is missing must be refused.
std::unique_ptr<fixture> make_poor_fixture();
std::unique_ptr<fixture> make_sqlite_fixture();
std::unique_ptr<fixture> make_redis_fixture();

/// A name that no other test uses.
std::string unique_name(std::string_view stem);

}  // namespace holdfast::tests
