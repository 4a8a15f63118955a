#include <iostream>

#include <holdfast/holdfast.hpp>

int main() {
    using namespace std::chrono_literals;
    auto client = holdfast::client::open("sqlite:shop.db");
    holdfast::mutex stock{client, "stock:1001"};

    holdfast::lease lease = stock.acquire({.wait = 2s});  // throws lock_error if not had in time
    for (int step = 0; step < 3 && !lease.lost().stop_requested(); ++step) {
        std::cout << "update stock ... where token <= " << lease.token().value() << '\n';
    }
}  // the lease is released here
