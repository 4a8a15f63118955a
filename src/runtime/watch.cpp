#include "runtime/watch.hpp"

#include <mutex>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "runtime/loop.hpp"

namespace holdfast::runtime {

using boost::asio::posix::stream_descriptor;

struct watch::state : std::enable_shared_from_this<watch::state> {
    state(boost::asio::io_context& io, int fd, readiness what, std::function<void()> call)
        : descriptor(io, fd),
          until(what == readiness::readable ? stream_descriptor::wait_read
                                            : stream_descriptor::wait_error),
          ready(std::move(call)) {}

    void start() {
        std::lock_guard guard{mutex};
        if (!descriptor.is_open()) return;
        descriptor.async_wait(until,
                              [self = shared_from_this()](const boost::system::error_code& error) {
                                  if (!error) self->ready();
                              });
    }

    // Gives the descriptor back without closing it.
    void end() {
        std::lock_guard guard{mutex};
        if (descriptor.is_open()) descriptor.release();
    }

    std::mutex mutex;
    stream_descriptor descriptor;
    const stream_descriptor::wait_type until;
    const std::function<void()> ready;
};

watch::watch(loop& in, int descriptor, readiness until, std::function<void()> ready)
    : state_(std::make_shared<state>(in.io(), descriptor, until, std::move(ready))) {
    state_->start();
}

watch::~watch() {
    state_->end();
}

void watch::again() {
    state_->start();
}

}  // namespace holdfast::runtime
