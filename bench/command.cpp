#include "command.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "process.hpp"

extern char** environ;

namespace holdfast::bench {
namespace {

// From the start until it has ended, in milliseconds.
double milliseconds_of(const words& command) {
    std::vector<char*> argv;
    for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const auto start = nanoseconds_now();
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ);
    if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
    int status = 0;
    check(::waitpid(pid, &status, 0), "waitpid");
    if (status != 0) throw std::runtime_error(command[0] + " failed");
    return static_cast<double>(nanoseconds_now() - start) / 1e6;
}

way running(std::string name, words command) {
    return {std::move(name),
            [command = std::move(command)] { return figures{milliseconds_of(command)}; }};
}

}  // namespace

named_work command_work(std::string store_url, std::string flock_file) {
    return {"run a command", [=](const effort& how) {
                const auto self = std::filesystem::read_symlink("/proc/self/exe");
                const auto program = (self.parent_path() / "holdfast").string();
                const words ours{program,  "run",           "--store", store_url,
                                 "--lock", "bench:command", "--",      "true"};
                milliseconds_of(ours);  // the first one makes the store
                return work{
                    .rows = {{"from start to end", "ms", {compared::difference_at_most, 3}}},
                    .floor = running("flock FILE true", {"flock", flock_file, "true"}),
                    .peers = {running("true", {"true"})},
                    .ours = running("holdfast run --lock", ours),
                    .rounds = how.rounds(15),
                    .turns = 11};
            }};
}

}  // namespace holdfast::bench
