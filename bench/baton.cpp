#include "baton.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <optional>
#include <stdexcept>

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "stores.hpp"

namespace holdfast::bench {
namespace {

class held_lease final : public baton {
  public:
    explicit held_lease(mutex of) : mutex_(std::move(of)) {}
    void take() override { lease_ = mutex_.acquire(); }
    void give() override { lease_.release(); }

  private:
    mutex mutex_;
    lease lease_;
};

class locked_file final : public baton {
  public:
    explicit locked_file(const std::string& path)
        : file_(check(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open")) {}
    void take() override { check(::flock(file_.get(), LOCK_EX), "flock"); }
    void give() override { check(::flock(file_.get(), LOCK_UN), "flock"); }

  private:
    descriptor file_;
};

}  // namespace

baton_source flock_baton(const std::string& path) {
    return [path] { return std::make_unique<locked_file>(path); };
}

baton_source lease_baton(const std::string& url, const std::string& name) {
    const auto in = client::open(url);
    return [in, name] { return std::make_unique<held_lease>(mutex{in, name}); };
}

baton_source open_baton(const words& which, int side) {
    const auto& kind = which.at(0);
    if (kind == "lease") return lease_baton(which.at(1), which.at(2));
    if (kind == "flock") return flock_baton(which.at(1));
    for (const auto& store : stores()) {
        if (store.floor_baton == nullptr || kind != store.name) continue;
        return store.floor_baton(which, side);
    }
    throw std::invalid_argument("no such baton: " + kind);
}

}  // namespace holdfast::bench
