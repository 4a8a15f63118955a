// Looking names up while the loop goes on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "runtime/stream.hpp"

namespace holdfast::runtime {

using endpoint = boost::asio::generic::stream_protocol::endpoint;

/// What a name stands for, or why that cannot be told.
struct name_answer {
    std::vector<endpoint> found{};
    std::string why{};  ///< if none was found
};

/// getaddrinfo can hang for half a minute, and nothing interrupts it. Asio's resolver would wait
/// for it when the loop ends, and would let the other names wait behind it. So each name is looked
/// up in a thread that nobody waits for; who asks for the same name meanwhile shares it, so that a
/// host that is tried again and again does not add up threads. Safe from several threads.
class names : public boost::asio::execution_context::service {
  public:
    static inline boost::asio::execution_context::id id;
    explicit names(boost::asio::execution_context& of);

    /// Calls `taker` in that thread, even if the loop has gone meanwhile. Throws if there is no
    /// thread to be had.
    void look_up(const tcp_address& which, std::function<void(const name_answer&)> taker);

  private:
    struct table;
    void shutdown() noexcept override {}

    std::shared_ptr<table> table_;
};

}  // namespace holdfast::runtime
