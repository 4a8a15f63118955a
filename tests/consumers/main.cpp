// What a user of the library writes: opens the store named by the first argument, takes a lock,
// prints the token.
#include <iostream>

#include <holdfast/holdfast.hpp>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    holdfast::mutex job{holdfast::client::open(argv[1]), "nightly"};
    const auto lease = job.try_acquire();
    if (!lease) {
        std::cerr << lease.error().message() << '\n';
        return 1;
    }
    std::cout << "token " << lease->token().value() << '\n';
}
