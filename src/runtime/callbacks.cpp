#include "runtime/callbacks.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "runtime/quiet_thread.hpp"
#include "support/guarded.hpp"

namespace holdfast::runtime {

struct callbacks::state {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> queue;
    bool stopping = false;
    std::thread thread;

    void run() {
        std::unique_lock lock{mutex};
        for (;;) {
            changed.wait(lock, [this] { return stopping || !queue.empty(); });
            if (queue.empty()) return;
            auto user_code = std::move(queue.front());
            queue.pop_front();
            lock.unlock();
            support::run_guarded(user_code);
            user_code = nullptr;  // what it keeps alive may end here, in a thread that can wait
            lock.lock();
        }
    }
};

callbacks::callbacks() : state_(std::make_shared<state>()) {
}
callbacks::~callbacks() {
    stop();
}

void callbacks::post(std::function<void()> user_code) {
    state& s = *state_;
    std::lock_guard guard{s.mutex};
    s.queue.push_back(std::move(user_code));
    s.changed.notify_one();
    if (s.thread.joinable() || s.stopping) return;
    s.thread = start_quiet_thread("holdfast-calls", [kept = state_] { kept->run(); });
}

void callbacks::stop() noexcept {
    state& s = *state_;
    std::thread ending;
    {
        std::lock_guard guard{s.mutex};
        s.stopping = true;
        ending = std::move(s.thread);
        s.changed.notify_all();
    }
    if (!ending.joinable()) return;
    if (ending.get_id() == std::this_thread::get_id()) {
        ending.detach();  // it keeps the state until it has run the rest
    } else {
        ending.join();
    }
}

}  // namespace holdfast::runtime
