// Tests that a job stops when its lease is lost, without sleeping.
#include <iostream>

#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>

int main() {
    using namespace std::chrono_literals;
    holdfast::testing::world world;
    auto ours = world.connect();
    auto theirs = world.connect();

    holdfast::lease held = holdfast::mutex{ours, "job"}.acquire();
    world.cut(ours);     // the store cannot be reached any more
    world.advance(30s);  // the ttl; nobody sleeps
    std::cout << "ours: " << holdfast::to_string(held.loss()) << '\n';

    const holdfast::lease next = holdfast::mutex{theirs, "job"}.acquire();
    std::cout << "theirs: " << (next.token() > held.token() ? "a newer token" : "an old one")
              << '\n';
}
