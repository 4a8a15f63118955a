// Threads of the library do not take part in the program's life: they take no signals of it.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace holdfast::runtime {

template <class Body>
std::thread start_quiet_thread(const char* name, Body body) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread started{[name, body = std::move(body)] {
        ::pthread_setname_np(::pthread_self(), name);
        body();
    }};
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace holdfast::runtime
