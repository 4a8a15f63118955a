// Everything a user of locks needs. Where to look: client.hpp (open a store), mutex.hpp and its
// siblings (the kinds), lease.hpp (what you hold), options.hpp, result.hpp (what can go wrong),
// observer.hpp (logs and metrics). Not included: store.hpp is for people who write a store,
// testing.hpp for tests of code that takes locks.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/reentrant_mutex.hpp>
#include <holdfast/result.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/types.hpp>
#include <holdfast/version.hpp>
