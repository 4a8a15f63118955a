#include "waiting.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "duration.hpp"
#include "output.hpp"
#include "text.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

namespace {

constexpr duration show_after = 300ms;
constexpr duration refresh = 1s;
/// How long a cancelled wait may take to leave nothing behind.
constexpr duration cancel_limit = 5s;

std::size_t terminal_columns() {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

/// Our own place in the queue is known by host and pid.
bool is_ours(const std::string& owner) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::string self = fmt::format("{}/{}", host.data(), ::getpid());
    return owner == self || owner.starts_with(self + '/');
}

std::string describe_holders(const lock_record& lock) {
    const holder_record& first = lock.holders.front();
    std::string out = fmt::format("held by {} for {}, token {}", shown(first.owner),
                                  format_duration(first.held_for), first.token.value());
    if (lock.holders.size() > 1) out += fmt::format(", and {} more", lock.holders.size() - 1);
    const auto own = std::find_if(lock.waiters.begin(), lock.waiters.end(),
                                  [](const waiter_record& each) { return is_ours(each.owner); });
    const auto ahead = own - lock.waiters.begin();
    if (ahead == 1) out += ", 1 waiter ahead";
    if (ahead > 1) out += fmt::format(", {} waiters ahead", ahead);
    return out;
}

}  // namespace

waiting_view::waiting_view(std::vector<std::string> names, mode how)
    : names_(std::move(names)),
      mode_(how),
      start_(boot_clock::now()),
      next_(how == mode::off ? time_point::max() : start_ + show_after) {
}

void waiting_view::ask(client from) {
    const std::lock_guard guard{mutex_};
    client_ = std::move(from);
}

int waiting_view::milliseconds_to_update() const {
    if (next_ == time_point::max()) return -1;
    const duration left = next_ - boot_clock::now();
    return std::max(0,
                    static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

std::string waiting_view::line() {
    std::optional<client> from;
    {
        const std::lock_guard guard{mutex_};
        from = client_;
    }
    const std::string waited = format_duration(boot_clock::now() - start_);
    if (from && from->caps().inspect) {
        for (const std::string& name : names_) {
            const result<lock_record> lock = from->show(name);
            if (!lock || lock->holders.empty() || is_ours(lock->holders.front().owner)) continue;
            return fmt::format("waiting for {} — {}", shown(name), describe_holders(*lock));
        }
    }
    return fmt::format("waiting for {} for {}", shown(names_.front()), waited);
}

void waiting_view::update() {
    if (boot_clock::now() < next_) return;
    if (mode_ == mode::once) {
        next_ = time_point::max();
        write_all(STDERR_FILENO, fmt::format("holdfast: {}\n", line()));
        return;
    }
    const std::string text = line();
    // The last column stays empty: some terminals wrap the line as soon as it is used.
    const std::string_view fits = cut(text, terminal_columns() - 1);
    write_all(STDERR_FILENO, fmt::format("\r{}\x1b[K", fits));
    visible_ = true;
    next_ = boot_clock::now() + refresh;
}

void waiting_view::clear() {
    if (visible_) write_all(STDERR_FILENO, "\r\x1b[K");
    visible_ = false;
}

namespace {

/// Reads signals while the work goes on; what it returns ends the wait.
int ending_signal(signal_inbox& signals, waiting_view& view) {
    int found = 0;
    while (const auto info = signals.next()) {
        const int signal = static_cast<int>(info->ssi_signo);
        if (is_ignored(signal)) continue;
        const default_action action = default_action_of(signal);
        if (action == default_action::stop) {
            view.clear();
            signals.stop_self(signal, signal_inbox::reach::process);
        }
        if (action == default_action::end && found == 0) found = signal;
    }
    return found;
}

}  // namespace

int run_interruptibly(signal_inbox& signals, waiting_view& view,
                      const std::function<void(std::stop_token)>& work) {
    const descriptor done{::eventfd(0, EFD_CLOEXEC)};
    if (!done) throw std::system_error(errno, std::generic_category(), "eventfd");
    std::exception_ptr failed;
    std::jthread worker{[&](const std::stop_token& stop) {
        try {
            work(stop);
        } catch (...) {
            failed = std::current_exception();
        }
        ::eventfd_write(done.number(), 1);
    }};
    int signal = 0;
    time_point limit = time_point::max();
    for (;;) {
        std::array<pollfd, 2> sources{
            {{signals.descriptor_number(), POLLIN, 0}, {done.number(), POLLIN, 0}}};
        const int timeout = signal != 0 ? 100 : view.milliseconds_to_update();
        ::poll(sources.data(), sources.size(), timeout);
        if (signal == 0 && (signal = ending_signal(signals, view)) != 0) {
            view.clear();
            worker.request_stop();
            limit = boot_clock::now() + cancel_limit;
        }
        if ((sources[1].revents & POLLIN) != 0) break;
        if (signal != 0 && boot_clock::now() > limit) die_by(signal);
        if (signal == 0) view.update();
    }
    view.clear();
    worker.join();
    if (failed) std::rethrow_exception(failed);
    return signal;
}

}  // namespace holdfast::cli
