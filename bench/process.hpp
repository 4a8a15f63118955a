// Workers: this program again, in processes of their own, with a piece of memory in common.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include <holdfast/types.hpp>

namespace holdfast::bench {

using words = std::vector<std::string>;

/// CLOCK_MONOTONIC, the same in all processes.
std::int64_t nanoseconds_now() noexcept;
/// For the processor clocks: seconds on any clock.
double seconds_on(clockid_t clock) noexcept;
void nap(duration how_long) noexcept;

/// A file descriptor that closes itself.
class descriptor {
  public:
    descriptor() noexcept = default;
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(other.release()) {}
    descriptor& operator=(descriptor&& other) noexcept;
    ~descriptor() { reset(); }
    int get() const noexcept { return number_; }
    int release() noexcept;
    void reset() noexcept;

  private:
    int number_ = -1;
};

/// Throws std::system_error with errno if the result says so; else the result.
int check(int result, const char* what);

/// Memory that this process and its workers see.
class shared_memory {
  public:
    explicit shared_memory(std::size_t bytes);
    /// In a worker: what its starter gave it.
    static shared_memory inherited();
    shared_memory(shared_memory&& other) noexcept;
    shared_memory& operator=(shared_memory&&) = delete;
    ~shared_memory();
    void* data() const noexcept { return data_; }
    int file() const noexcept { return file_.get(); }

  private:
    explicit shared_memory(descriptor file);
    descriptor file_;
    std::size_t bytes_ = 0;
    void* data_ = nullptr;
};

/// A T in shared memory, without destructor: it is atomics and plain numbers.
template <class T>
class shared {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    shared() : memory_(sizeof(T)), it_(new (memory_.data()) T{}) {}
    static shared inherited() { return shared{shared_memory::inherited()}; }
    T& operator*() const noexcept { return *it_; }
    T* operator->() const noexcept { return it_; }
    const shared_memory& memory() const noexcept { return memory_; }

  private:
    explicit shared(shared_memory memory)
        : memory_(std::move(memory)), it_(static_cast<T*>(memory_.data())) {}
    shared_memory memory_;
    T* it_;
};

/// A worker, from outside. Killed if it has not ended when this goes.
class worker {
  public:
    worker(const words& arguments, const shared_memory& with);
    worker(worker&&) noexcept = default;
    ~worker();
    /// Until it says that it is ready; throws if it ends instead.
    void wait_until_ready();
    void go();
    /// Until it ends; throws if it failed.
    void finish();

  private:
    pid_t pid_ = -1;
    std::string name_;
    descriptor say_;
    descriptor hear_;
};

/// In a worker: tells that everything is prepared, and waits for the start.
void ready_and_wait();

/// In a worker, before anything else: it ends with its starter.
void end_with_starter();

/// A folder of its own for files of the bench, removed at the end.
class scratch_folder {
  public:
    scratch_folder();
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder();
    /// A path in it that was not given out before.
    std::string fresh(const char* kind) const;

  private:
    std::string path_;
    mutable int given_ = 0;
};

}  // namespace holdfast::bench
