#include "runtime/timer.hpp"

#include <mutex>

#include "runtime/boot_timer.hpp"
#include "runtime/loop.hpp"
#include "support/guarded.hpp"

namespace holdfast::runtime {

struct timer::state : std::enable_shared_from_this<timer::state> {
    state(boost::asio::io_context& io, std::function<void()> call)
        : clock(io), due(std::move(call)) {}

    void await() {
        std::lock_guard guard{mutex};
        if (!clock.is_open()) return;
        clock.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
            if (!error) self->look();
        });
    }

    void look() {
        const bool fired = take();
        await();  // first: `due` may block, and serve the loop meanwhile
        if (fired) support::run_guarded(due);
    }

    bool take() {
        std::lock_guard guard{mutex};
        return clock.is_open() && clock.take();
    }

    std::mutex mutex;
    boot_timer clock;
    const std::function<void()> due;
};

timer::timer(loop& in, std::function<void()> due) {
    const auto io = in.shared_io();
    loop_ = io;
    state_ = std::make_shared<state>(*io, std::move(due));
    state_->await();
    in.attend();
}

timer::~timer() {
    std::lock_guard guard{state_->mutex};
    state_->clock.close();
}

// The call that this brings about may destroy the timer: the mutex lets it wait for the end of
// this.
void timer::set(time_point when) noexcept {
    std::lock_guard guard{state_->mutex};
    state_->clock.arm(when);
}

void timer::cancel() noexcept {
    std::lock_guard guard{state_->mutex};
    state_->clock.disarm();
}

}  // namespace holdfast::runtime
