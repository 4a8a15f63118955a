// The memory store: for contract rows with a clock that the test moves, for clients in the test
// kit's world, or, with threads, behind the URL `memory:NAME`.
#include <atomic>

#include <holdfast/testing.hpp>

#include "stores/memory/world.hpp"
#include "support/fixture.hpp"
#include "support/wait.hpp"
#include "support/wrapped_store.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

class memory_fixture : public fixture {
  public:
    std::unique_ptr<store> make() override { return bare_->connect(); }

    client connect(client_options options) override {
        if (threads_) return client::open("memory:" + real_, std::move(options));
        return world_.connect(std::move(options));
    }

    bool really_held(const std::string& name) override {
        if (threads_) return !client::open("memory:" + real_).show(name).value().holders.empty();
        return !world_.show(name).holders.empty() || !bare_->show(name).holders.empty();
    }

    duration ttl() const override { return threads_ ? duration{1s} : duration{30s}; }

    void pass(duration how_long) override {
        if (threads_) {
            wait_for_clock(how_long);
            return;
        }
        *now_ = now_->load() + how_long;
        world_.advance(how_long);
    }

    bool until(const std::function<bool()>& it_is_so, duration limit) override {
        if (threads_) return eventually(it_is_so, limit);
        for (duration passed{}; !it_is_so(); passed += step) {
            if (passed >= limit) return false;
            pass(step);
        }
        return true;
    }

    void with_threads() override { threads_ = true; }

    bool cut(const client& who) override {
        if (threads_) return false;
        world_.cut(who);
        return true;
    }
    void heal(const client& who) override { world_.heal(who); }

  private:
    static constexpr duration step = 500us;  // less than the margin of a local deadline
    bool threads_ = false;
    const std::string real_ = unique_name("world");
    std::shared_ptr<std::atomic<time_point>> now_ =
        std::make_shared<std::atomic<time_point>>(time_point{1h});
    std::shared_ptr<memory::world> bare_ =
        std::make_shared<memory::world>([now = now_] { return now->load(); });
    testing::world world_;
};

/// Only mutexes, without tokens, queue or inspection.
class poor_fixture final : public fixture {
  public:
    std::unique_ptr<store> make() override {
        auto poor = std::make_unique<wrapped_store>(world_->connect(), seen_);
        const auto& can = poor->caps();
        poor->pretend({.ttl_min = can.ttl_min, .ttl_max = can.ttl_max, .poll_max = can.poll_max});
        return poor;
    }
    client connect(client_options options) override {
        return client::on(make(), std::move(options));
    }
    bool really_held(const std::string& name) override {
        return !world_->show(name).holders.empty();
    }
    duration ttl() const override { return 500ms; }
    void pass(duration how_long) override { wait_for_clock(how_long); }
    bool until(const std::function<bool()>& it_is_so, duration limit) override {
        return eventually(it_is_so, limit);
    }
    std::optional<std::size_t> requests() const override { return seen_->all(); }

  private:
    const std::shared_ptr<traffic> seen_ = std::make_shared<traffic>();
    const std::shared_ptr<memory::world> world_ =
        std::make_shared<memory::world>([] { return boot_clock::now(); });
};

}  // namespace

std::unique_ptr<fixture> make_memory_fixture() {
    return std::make_unique<memory_fixture>();
}
std::unique_ptr<fixture> make_poor_fixture() {
    return std::make_unique<poor_fixture>();
}

}  // namespace holdfast::tests
