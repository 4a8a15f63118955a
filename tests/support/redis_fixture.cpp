// The Redis store on a real server of its own, by that server's clock.
#include "support/driven_store.hpp"
#include "support/fixture.hpp"
#include "support/redis_server.hpp"
#include "support/wait.hpp"

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;

class redis_fixture final : public fixture {
  public:
    std::unique_ptr<store> make() override { return std::make_unique<driven_store>(server_.url()); }
    client connect(client_options options) override {
        return client::open(server_.url(), std::move(options));
    }

    // As Redisson's isLocked.
    bool really_held(const std::string& name) override {
        return server_.ask({"EXISTS", name}) == "1";
    }

    duration ttl() const override { return 300ms; }
    // Redis ends a key after its last millisecond.
    void pass(duration how_long) override { wait_for_clock(how_long + 1ms); }
    bool until(const std::function<bool()>& it_is_so, duration limit) override {
        return eventually(it_is_so, limit + 2s);  // the machine may be busy
    }
    bool restart() override {
        server_.kill();
        server_.start();
        return true;
    }

  private:
    redis_server server_;
};

}  // namespace

std::unique_ptr<fixture> make_redis_fixture() {
    return std::make_unique<redis_fixture>();
}

}  // namespace holdfast::tests
