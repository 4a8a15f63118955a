// A file descriptor that is closed when it is no longer needed.
#pragma once

#include <unistd.h>

#include <utility>

namespace holdfast::sqlite {

class descriptor {
  public:
    descriptor() noexcept = default;
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { reset(); }

    explicit operator bool() const noexcept { return number_ >= 0; }
    int get() const noexcept { return number_; }
    int release() noexcept { return std::exchange(number_, -1); }
    void reset() noexcept {
        if (number_ >= 0) static_cast<void>(::close(number_));
        number_ = -1;
    }

  private:
    int number_ = -1;
};

}  // namespace holdfast::sqlite
