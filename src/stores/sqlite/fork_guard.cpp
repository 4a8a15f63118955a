#include "stores/sqlite/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "stores/sqlite/database.hpp"
#include "support/fork.hpp"

namespace holdfast::sqlite::fork_guard {
namespace {

// Never destroyed: a fork may happen after the static destructors have begun. The mutexes are
// taken in the order in which they stand here, the connections' own between the last two.
struct registry {
    std::mutex opening;
    std::mutex connections_mutex;
    std::vector<connection*> connections;
    std::mutex numbers_mutex;
    std::vector<int> numbers;
};

registry& all() {
    static registry& it = *new registry;
    return it;
}

}  // namespace

struct handlers {
    static void before() {
        auto& it = all();
        it.opening.lock();
        it.connections_mutex.lock();
        for (auto* one : it.connections) {
            // What was inherited runs no statements, and its mutex may be gone.
            one->locked_ = one->made_in_ == support::fork_generation();
            if (one->locked_) one->mutex_.lock();
        }
        it.numbers_mutex.lock();
    }
    static void after() {
        auto& it = all();
        it.numbers_mutex.unlock();
        for (auto* one : it.connections) {
            if (std::exchange(one->locked_, false)) one->mutex_.unlock();
        }
        it.connections_mutex.unlock();
        it.opening.unlock();
    }
    // Runs in the one thread of the child, which has the mutexes since before(). Only calls that
    // are safe there: nothing is allocated.
    static void in_child() {
        auto& it = all();
        for (const int number : it.numbers) static_cast<void>(::close(number));
        it.numbers.clear();
        after();
    }
    static void install() {
        static const int code = ::pthread_atfork(&before, &after, &in_child);
        if (code != 0) throw std::system_error(code, std::generic_category(), "pthread_atfork");
    }
};

connection::connection(std::mutex& mutex, database& what)
    : mutex_(mutex), what_(what), made_in_(support::fork_generation()) {
    handlers::install();
    std::lock_guard guard{all().connections_mutex};
    all().connections.push_back(this);
}

connection::~connection() {
    std::lock_guard guard{all().connections_mutex};
    std::erase(all().connections, this);
}

std::mutex& opening() {
    handlers::install();
    return all().opening;
}

void close_inherited() {
    auto& it = all();
    std::lock_guard guard{it.connections_mutex};
    std::erase_if(it.connections, [](connection* one) {
        if (one->made_in_ == support::fork_generation()) return false;
        one->what_.close_in_child();
        return true;
    });
}

no_fork::no_fork() : guard_((handlers::install(), all().numbers_mutex)) {
}

// Until it is listed, it is closed by itself.
static int listed(descriptor what) {
    all().numbers.push_back(what.get());
    return what.release();
}

parents_only::parents_only(const no_fork&, descriptor what)
    : number_(listed(std::move(what))), made_in_(support::fork_generation()) {
}

parents_only::parents_only(parents_only&& other) noexcept
    : number_(std::exchange(other.number_, -1)), made_in_(other.made_in_) {
}

parents_only& parents_only::operator=(parents_only&& other) noexcept {
    if (this != &other) {
        reset();
        number_ = std::exchange(other.number_, -1);
        made_in_ = other.made_in_;
    }
    return *this;
}

parents_only::~parents_only() {
    reset();
}

void parents_only::reset() noexcept {
    if (number_ < 0) return;
    std::lock_guard guard{all().numbers_mutex};
    auto& numbers = all().numbers;
    const auto found = std::ranges::find(numbers, number_);
    // In a child it is closed already, and the number may be another descriptor's by now.
    if (found != numbers.end() && made_in_ == support::fork_generation()) {
        *found = numbers.back();
        numbers.pop_back();
        static_cast<void>(::close(number_));
    }
    number_ = -1;
}

}  // namespace holdfast::sqlite::fork_guard
