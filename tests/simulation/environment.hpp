// What clients and server see of the world between them. The random simulation and the small worlds
// each have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <holdfast/types.hpp>

#include "simulation/plan.hpp"

namespace holdfast::simulation {

class node;

/// What the store makes of one call of a client.
enum class fate : std::uint8_t {
    carried,         ///< as request and answer, each with its own fate
    at_once,         ///< answered inside the call
    unavailable,     ///< surely without effect
    unknown_before,  ///< without effect, but the client is told that it cannot be known
    unknown_after,   ///< with effect, and the client is told that it cannot be known
};

enum class message : std::uint8_t { answer, hint };

using deed = std::function<void()>;

class environment {
  public:
    virtual ~environment() = default;
    virtual time_point now() const noexcept = 0;
    virtual std::uint64_t random_for(const node& who) = 0;
    virtual fate fate_of_call(node& from) = 0;
    /// `arrive` runs at the server: never, once or twice, now or later.
    virtual void to_server(node& from, deed arrive) = 0;
    /// `arrive` runs in the client if it lives: never or once, later.
    virtual void to_client(node& to, message what, deed arrive) = 0;
    /// The client is to look at its timers then.
    virtual void set_alarm(node& of, time_point when) = 0;
    /// Whether a store that is down says so.
    virtual bool bounces() const = 0;
    /// Whether everything is to be written down, for people.
    virtual bool tells() const { return false; }
    virtual void tell(const std::string& /*line*/) {}
};

}  // namespace holdfast::simulation
