#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace holdfast::bench {
namespace {

// Where a worker finds the shared memory. Its standard input and output are the pipes of worker.
constexpr int shared_file = 3;

struct two_ends {
    descriptor read;
    descriptor write;
};

two_ends make_pipe() {
    std::array<int, 2> ends{};
    check(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
    return {descriptor{ends[0]}, descriptor{ends[1]}};
}

struct file_actions {
    posix_spawn_file_actions_t actions{};
    file_actions() { ::posix_spawn_file_actions_init(&actions); }
    ~file_actions() { ::posix_spawn_file_actions_destroy(&actions); }
    void put(const descriptor& from, int to) {
        ::posix_spawn_file_actions_adddup2(&actions, from.get(), to);
    }
};

}  // namespace

std::int64_t nanoseconds_now() noexcept {
    timespec at{};
    ::clock_gettime(CLOCK_MONOTONIC, &at);
    return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

double seconds_on(clockid_t clock) noexcept {
    timespec at{};
    ::clock_gettime(clock, &at);
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
}

void nap(duration how_long) noexcept {
    const timespec span{how_long.count() / 1'000'000'000, how_long.count() % 1'000'000'000};
    ::nanosleep(&span, nullptr);
}

int check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
    if (this != &other) {
        reset();
        number_ = other.release();
    }
    return *this;
}

int descriptor::release() noexcept {
    return std::exchange(number_, -1);
}

void descriptor::reset() noexcept {
    if (number_ >= 0) ::close(release());
}

shared_memory::shared_memory(std::size_t bytes)
    : shared_memory([bytes] {
          descriptor file{check(::memfd_create("holdfast-bench", MFD_CLOEXEC), "memfd_create")};
          check(::ftruncate(file.get(), static_cast<off_t>(bytes)), "ftruncate");
          return file;
      }()) {
}

shared_memory shared_memory::inherited() {
    return shared_memory{descriptor{shared_file}};
}

shared_memory::shared_memory(descriptor file) : file_(std::move(file)) {
    struct stat about {};
    check(::fstat(file_.get(), &about), "fstat");
    bytes_ = static_cast<std::size_t>(about.st_size);
    void* const at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    check(at == MAP_FAILED ? -1 : 0, "mmap");
    data_ = at;
}

shared_memory::shared_memory(shared_memory&& other) noexcept
    : file_(std::move(other.file_)),
      bytes_(other.bytes_),
      data_(std::exchange(other.data_, nullptr)) {
}

shared_memory::~shared_memory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

worker::worker(const words& arguments, const shared_memory& with) : name_(arguments.at(0)) {
    auto input = make_pipe();
    auto output = make_pipe();
    // A copy far from the numbers that the worker's ends are put to.
    const descriptor memory{check(::fcntl(with.file(), F_DUPFD_CLOEXEC, 10), "dup")};
    file_actions actions;
    actions.put(input.read, STDIN_FILENO);
    actions.put(output.write, STDOUT_FILENO);
    actions.put(memory, shared_file);
    words all{"holdfast-bench", "--worker"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const int error =
        ::posix_spawn(&pid_, self.c_str(), &actions.actions, nullptr, argv.data(), environ);
    if (error != 0) throw std::system_error(error, std::generic_category(), "posix_spawn");
    say_ = std::move(input.write);
    hear_ = std::move(output.read);
}

worker::~worker() {
    // A moved-from worker has no pipe.
    if (pid_ < 0 || hear_.get() < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void worker::wait_until_ready() {
    char byte = 0;
    if (::read(hear_.get(), &byte, 1) != 1) {
        throw std::runtime_error("the worker '" + name_ + "' ended before it was ready");
    }
}

void worker::go() {
    check(static_cast<int>(::write(say_.get(), "g", 1)), "write");
}

void worker::finish() {
    int status = 0;
    check(::waitpid(pid_, &status, 0), "waitpid");
    pid_ = -1;
    if (status == 0) return;
    const auto how = WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                                         : "exited with " + std::to_string(WEXITSTATUS(status));
    throw std::runtime_error("the worker '" + name_ + "' " + how);
}

void ready_and_wait() {
    check(static_cast<int>(::write(STDOUT_FILENO, "r", 1)), "write");
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != 1) throw std::runtime_error("the starter is gone");
}

void end_with_starter() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

scratch_folder::scratch_folder() {
    path_ = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) check(-1, "mkdtemp");
}

scratch_folder::~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string scratch_folder::fresh(const char* kind) const {
    const auto number = std::to_string(++given_);
    // A folder each: a store keeps files beside its own.
    const auto folder = path_ + "/" + number;
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    return folder + "/" + kind;
}

}  // namespace holdfast::bench
