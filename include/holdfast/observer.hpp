// Everything that happens, for logs, metrics and traces, without depending on any of them.
#pragma once

#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/types.hpp>

namespace holdfast {

/// One thing that happened.
struct event {
    enum class type : std::uint8_t {
        waiting,      ///< refused and now waiting; `holder` tells for whom, `took` how long already
        acquired,     ///< `took`: from the call to the grant
        handed_over,  ///< acquired from another holder in this process, without the store
        refused,      ///< the acquisition ended without a hold; `why` tells the reason
        renewed,      ///< `took`: the round trip
        retried,      ///< a request to the store failed and is repeated; `why` tells the reason
        at_risk,      ///< not renewed for two thirds of the ttl; `took`: what remains
        lost,         ///< `loss` tells the reason, `took` how long it was held
        released,     ///< `took`: how long it was held
        abandoned,  ///< a release stayed uncertain until the ttl was over; the store ends the hold
    };
    type what{};
    std::string_view lock{};  ///< the name
    fencing_token token{};    ///< of the hold concerned, or zero
    duration took{};
    loss_reason loss = loss_reason::none;
    const failure* why = nullptr;         ///< valid during the call only
    const holder_info* holder = nullptr;  ///< valid during the call only
};

/// For example "at risk".
HOLDFAST_EXPORT const char* to_string(event::type what) noexcept;

/// Implement and give to `client_options::watch`. Called from whatever thread the event happens in,
/// at times from several at once, never under a mutex of the library, so it may call back into it.
/// An exception that leaves it is swallowed.
class HOLDFAST_EXPORT observer {
  public:
    virtual ~observer();
    virtual void on_event(const event& what) = 0;
};

}  // namespace holdfast
