#include "stores/sqlite/bells.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "stores/sqlite/database.hpp"
#include "stores/sqlite/filesystem.hpp"
#include "support/random.hpp"

namespace holdfast::sqlite {
namespace {

constexpr std::size_t ropes_max = 64;
constexpr std::size_t census_max = 100'000;

[[noreturn]] void fail(std::string_view doing, const std::string& path, int error) {
    throw database_error(system_failure(code_of_errno(error), doing, path, error));
}

// Whoever may read or write the database may also enter the directory.
mode_t directory_mode(mode_t file) {
    mode_t mode = 0700;
    if ((file & 0060) != 0) mode |= 0070;
    if ((file & 0006) != 0) mode |= 0007;
    return mode;
}

bool reader_is_gone(int end) noexcept {
    pollfd about{.fd = end, .events = 0, .revents = 0};
    return ::poll(&about, 1, 0) == 1 && (about.revents & POLLERR) != 0;
}

int digit(char letter) noexcept {
    if (letter >= '0' && letter <= '9') return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

std::optional<client_id> client_from(std::string_view name) {
    if (name.size() != 32) return {};
    client_id id;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const int value = digit(name[i]);
        if (value < 0) return {};
        auto& word = id.words[i / 16];
        word = word << 4U | static_cast<std::uint64_t>(value);
    }
    return to_string(id) == name ? std::optional{id} : std::nullopt;
}

// A FIFO without a reader raises SIGPIPE, and a library must not kill its program. There is no
// flag against it for FIFOs in kernels of this age, so the signal is held back for the moment.
class no_sigpipe {
  public:
    no_sigpipe() noexcept {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~no_sigpipe() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    no_sigpipe(const no_sigpipe&) = delete;
    no_sigpipe& operator=(const no_sigpipe&) = delete;
    /// Takes back the signal that our own write has raised. It is this thread's, at once.
    void swallow() noexcept {
        if (::sigismember(&before_, SIGPIPE) == 1) return;  // was held back before: harmless
        const timespec now{};
        while (::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
        }
    }

  private:
    sigset_t pipe_{};
    sigset_t before_{};
};

}  // namespace

bell_directory::bell_directory(std::string path, client_id self, mode_t mode)
    : path_(std::move(path)), self_(self), name_(to_string(self)), mode_(mode & 0666) {
}

bell_directory::~bell_directory() {
    take_down();
}

bool bell_directory::enter(const std::string& mark) {
    std::lock_guard guard{mutex_};
    descriptor found{::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!found || mark.empty()) return false;
    if (::faccessat(found.get(), mark.c_str(), F_OK, 0) != 0) return false;
    directory_ = std::move(found);
    mark_ = mark;
    return true;
}

std::string bell_directory::make() {
    const mode_t mode = directory_mode(mode_);
    if (::mkdir(path_.c_str(), 0700) == 0) {
        if (mode != 0700 && ::chmod(path_.c_str(), mode) != 0) fail("cannot open up", path_, errno);
    } else if (errno != EEXIST) {
        fail("cannot make the directory", path_, errno);
    }
    std::string mark = "mark-" + to_string(support::new_id());
    const std::string file = path_ + "/" + mark;
    const descriptor made{
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!made) fail("cannot make", file, errno);
    if (!enter(mark)) fail("cannot enter", path_, errno);
    return mark;
}

descriptor bell_directory::make_own(const fork_guard::no_fork&, const std::string& draft) const {
    const int at = directory_.get();
    if (::mkfifoat(at, draft.c_str(), mode_ & 0600) != 0)
        fail("cannot make a FIFO in", path_, errno);
    // Open for both: with a writer of our own it never shows its end.
    descriptor own{::openat(at, draft.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)};
    const int error = errno;
    const bool fine = own && ((mode_ & 0066) == 0 || ::fchmod(own.get(), mode_) == 0) &&
                      ::renameat(at, draft.c_str(), at, name_.c_str()) == 0;
    if (fine) return own;
    const int later = own ? errno : error;
    static_cast<void>(::unlinkat(at, draft.c_str(), 0));
    fail("cannot hang up a FIFO in", path_, later);
}

void bell_directory::hang() {
    const std::string draft = "draft-" + name_;
    std::unique_lock guard{mutex_};
    // A parents_only is closed under the lock that no_fork holds, so the old one goes afterwards.
    fork_guard::parents_only old;
    {
        const fork_guard::no_fork safe;
        descriptor own = make_own(safe, draft);
        const int size = ::fcntl(own.get(), F_GETPIPE_SZ);
        capacity_ = size > 0 ? static_cast<std::size_t>(size) : 65536;
        old = std::exchange(own_, fork_guard::parents_only{safe, std::move(own)});
    }
}

bool bell_directory::hung(bool look) const noexcept {
    std::lock_guard guard{mutex_};
    if (!own_ || !look) return static_cast<bool>(own_);
    struct stat about {};
    return ::fstat(own_.get(), &about) == 0 && about.st_nlink != 0;
}

int bell_directory::own() const noexcept {
    std::lock_guard guard{mutex_};
    return own_.get();
}

void bell_directory::take_down() noexcept {
    std::lock_guard guard{mutex_};
    if (own_) static_cast<void>(::unlinkat(directory_.get(), name_.c_str(), 0));
    own_.reset();
    ropes_.clear();
}

bool bell_directory::intact() const noexcept {
    return !mark_.empty() && ::faccessat(directory_.get(), mark_.c_str(), F_OK, 0) == 0;
}

bell_rope bell_directory::grasp(const client_id& client) const {
    std::lock_guard guard{mutex_};
    return find(client);
}

bell_rope bell_directory::find(const client_id& client) const {
    const std::string name = to_string(client);
    bell_rope rope;
    rope.end = descriptor{
        ::openat(directory_.get(), name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)};
    if (rope.end) {
        rope.state = life::alive;
    } else if (errno == ENXIO) {
        rope.state = life::dead;
        static_cast<void>(::unlinkat(directory_.get(), name.c_str(), 0));
    } else if (errno == ENOENT && intact()) {
        rope.state = life::dead;
    }
    return rope;
}

life bell_directory::look(const client_id& client) const {
    const auto known = ropes_.find(client);
    if (known != ropes_.end()) {
        if (!reader_is_gone(known->second.get())) return life::alive;
        ropes_.erase(known);
    }
    auto rope = find(client);
    if (rope.end) {
        if (ropes_.size() >= ropes_max) ropes_.clear();
        ropes_.emplace(client, std::move(rope.end));
    }
    return rope.state;
}

bool bell_directory::alive(const client_id& client) const {
    std::lock_guard guard{mutex_};
    for (const auto& [who, answer] : answers_) {
        if (who == client) return answer;
    }
    const bool answer = look(client) != life::dead;
    answers_.emplace_back(client, answer);
    return answer;
}

void bell_directory::begin_step() const noexcept {
    std::lock_guard guard{mutex_};
    answers_.clear();
}

bool bell_directory::write_end(int end, const claim_id& claim) const noexcept {
    no_sigpipe held;
    // Sixteen bytes are written whole or not at all. A full FIFO tells its reader to ask for all.
    const auto done = ::write(end, claim.words.data(), sizeof claim.words);
    if (done >= 0 || errno != EPIPE) return true;
    held.swallow();
    return false;
}

void bell_directory::ring(const client_id& client, const claim_id& claim) noexcept {
    try {
        std::lock_guard guard{mutex_};
        auto known = ropes_.find(client);
        if (known == ropes_.end()) {
            if (look(client) != life::alive) return;
            known = ropes_.find(client);
        }
        if (!write_end(known->second.get(), claim)) ropes_.erase(known);
    } catch (const std::exception&) {
        // No memory: the waiter asks again by itself after capabilities::poll_max.
    }
}

bell_directory::census bell_directory::count(bool remove_stale) const {
    census seen;
    const std::unique_ptr<DIR, int (*)(DIR*)> all{::opendir(path_.c_str()), &::closedir};
    if (!all) return seen;
    for (std::size_t i = 0; i < census_max; ++i) {
        const dirent* entry = ::readdir(all.get());
        if (entry == nullptr) break;
        const auto client = client_from(entry->d_name);
        if (!client) continue;
        const descriptor end{
            ::openat(::dirfd(all.get()), entry->d_name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
        if (end || errno != ENXIO) {
            ++seen.alive;
            continue;
        }
        ++seen.stale;
        if (remove_stale) static_cast<void>(::unlinkat(::dirfd(all.get()), entry->d_name, 0));
    }
    return seen;
}

}  // namespace holdfast::sqlite
