#include "runtime/loop.hpp"

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "runtime/boot_timer.hpp"
#include "runtime/quiet_thread.hpp"
#include "support/guarded.hpp"

namespace holdfast::runtime {
namespace asio = boost::asio;
namespace {

thread_local const void* driven_here = nullptr;

}  // namespace

// One thread at a time drives: it runs the handlers that are ready or sleeps until one is. Callers
// that block take over from the loop's own thread; further ones sleep until their signal is set or
// until it is their turn to drive.
struct loop::state : std::enable_shared_from_this<loop::state> {
    asio::io_context io{1};
    boot_timer timer{io};
    std::function<void()> due;

    std::mutex mutex;
    std::condition_variable idle;    // nobody drives any more
    std::condition_variable served;  // the loop's own thread is wanted
    bool driven = false;
    bool own_thread_drives = false;
    bool attended = false;  // something may become ready although nobody is blocked
    bool resting = false;   // the loop's own thread will look by itself within a moment
    std::uint64_t passed_on = 0;
    bool stopping = false;
    std::list<signal*> blocked;  // callers in wait(), in the order of their arrival
    time_point armed = time_point::max();
    std::thread thread;

    void await_timer() {
        timer.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            const bool fired = take_timer();
            await_timer();
            if (fired && due) support::run_guarded(due);
        });
    }

    bool take_timer() {
        if (!timer.take()) return false;
        std::lock_guard guard{mutex};
        armed = time_point::max();
        return true;
    }

    // Runs handlers until there is a reason to look around.
    void drive_once() {
        const void* outer = std::exchange(driven_here, this);
        io.restart();
        auto ready = [this, outer] {
            // What an outer handler posted waits in a place where only poll() looks for it.
            if (outer == this && io.poll() != 0) return;
            io.run_one();
        };
        support::run_guarded(ready);
        driven_here = outer;
    }

    void interrupt() {
        asio::post(io, [] {});
    }

    // The driver leaves: the longest blocked caller takes over, else the loop's own thread.
    void pass_on() {
        driven = false;
        ++passed_on;
        idle.notify_all();
        if (!blocked.empty()) {
            blocked.front()->wake.notify_one();
        } else if (!resting && (thread.joinable() || attended || armed != time_point::max())) {
            need_own_thread();
        }
    }

    void need_own_thread() {
        if (thread.joinable() || stopping) {
            served.notify_one();
            return;
        }
        thread = start_quiet_thread("holdfast", [self = shared_from_this()] { self->serve(); });
    }

    // Callers that come and go would wake this thread each time for nothing, so while they do it
    // looks by itself. While one stays, it waits to be called.
    void rest(std::unique_lock<std::mutex>& lock) {
        const auto seen = passed_on;
        resting = true;
        served.wait_for(lock, std::chrono::milliseconds{1});
        resting = false;
        if (passed_on == seen && !stopping && driven) served.wait(lock);
    }

    void serve() {
        std::unique_lock lock{mutex};
        while (!stopping) {
            if (driven || !blocked.empty()) {
                rest(lock);
                continue;
            }
            driven = own_thread_drives = true;
            lock.unlock();
            drive_once();
            lock.lock();
            own_thread_drives = false;
            pass_on();
        }
    }
};

loop::loop() : state_(std::make_shared<state>()) {
    state_->await_timer();
}

loop::~loop() {
    stop();
}

boost::asio::io_context& loop::io() noexcept {
    return state_->io;
}

std::shared_ptr<boost::asio::io_context> loop::shared_io() const noexcept {
    return {state_, &state_->io};
}

void loop::attend() {
    std::lock_guard guard{state_->mutex};
    state_->attended = true;
    // A caller that drives calls for the own thread when it leaves.
    if (!state_->driven && state_->blocked.empty()) state_->need_own_thread();
}

void loop::post(std::function<void()> work) {
    asio::post(state_->io, [work = std::move(work)] { support::run_guarded(work); });
    std::lock_guard guard{state_->mutex};
    state_->need_own_thread();
}

void loop::on_due(std::function<void()> due) {
    state_->due = std::move(due);
}

void loop::wake_at(time_point when) {
    std::lock_guard guard{state_->mutex};
    if (when >= state_->armed || state_->stopping) return;
    state_->armed = when;
    state_->timer.arm(when);
    state_->need_own_thread();
}

void loop::set(signal& what) {
    std::lock_guard guard{state_->mutex};
    what.is_set.store(true, std::memory_order_release);
    what.wake.notify_one();
    if (what.drives && !driving()) state_->interrupt();
}

bool loop::wait(signal& what, time_point limit) {
    const auto kept = state_;  // a handler that runs in here may destroy the loop
    state& s = *kept;
    const bool nested = driving();  // a handler that blocks goes on serving the others
    std::unique_lock lock{s.mutex};
    const auto place = s.blocked.insert(s.blocked.end(), &what);
    if (s.own_thread_drives && !nested) s.interrupt();
    while (!what.is_set && boot_clock::now() < limit && !s.stopping) {
        if (s.driven && !nested) {
            // The driver's timer follows boot_clock; this sleep does not, so it looks now and then.
            const auto left = limit - boot_clock::now();
            what.wake.wait_for(lock, std::min<duration>(left, std::chrono::seconds{1}));
            continue;
        }
        s.driven = what.drives = true;
        if (limit < s.armed) s.timer.arm(s.armed = limit);
        lock.unlock();
        s.drive_once();
        lock.lock();
        s.driven = nested;
        what.drives = false;
    }
    s.blocked.erase(place);
    if (!s.driven) s.pass_on();
    return what.is_set;
}

bool loop::driving() const noexcept {
    return driven_here == state_.get();
}

void loop::stop() noexcept {
    state& s = *state_;
    std::thread own;
    {
        std::unique_lock lock{s.mutex};
        if (std::exchange(s.stopping, true)) return;
        own = std::move(s.thread);
        s.interrupt();
        // What is ready and has not begun does not begin, if this is called from a handler.
        if (driving()) s.io.stop();
        s.served.notify_all();
        for (signal* blocked : s.blocked) blocked->wake.notify_one();
        if (!driving()) s.idle.wait(lock, [&] { return !s.driven; });
    }
    if (!own.joinable()) return;
    if (driving()) {
        own.detach();  // the thread keeps the state until it has left the handler
    } else {
        own.join();
    }
}

}  // namespace holdfast::runtime
