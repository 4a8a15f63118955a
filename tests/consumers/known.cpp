// Says whether this program has the store that the first argument names. Needs no server.
#include <iostream>

#include <holdfast/client.hpp>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    std::cout << (holdfast::is_store_known(argv[1]).value() ? "known\n" : "unknown\n");
}
