// Preloaded into an agent: the wall clock jumps by hours, to and fro, at every look.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
    static std::atomic<unsigned> looks{0};
    const auto failed = static_cast<int>(::syscall(SYS_clock_gettime, which, now));
    const bool wall = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE;
    if (failed == 0 && wall) now->tv_sec += looks++ % 2 == 0 ? 3600 : -3600;
    return failed;
}

extern "C" int gettimeofday(timeval* now, void*) noexcept {
    timespec precise{};
    const int failed = clock_gettime(CLOCK_REALTIME, &precise);
    *now = {precise.tv_sec, precise.tv_nsec / 1000};
    return failed;
}

extern "C" time_t time(time_t* now) noexcept {
    timespec precise{};
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now != nullptr) *now = precise.tv_sec;
    return precise.tv_sec;
}
