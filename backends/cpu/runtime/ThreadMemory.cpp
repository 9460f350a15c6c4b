// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory, reserves and signal stacks are allocated by mmap and freed by
// munmap.

#include "ThreadMemory.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace triton_ext::cpu;

void *Arena::get(size_t size) {
  if (size > capacity) {
    release();
    capacity = (size + 0x1fffff) & ~size_t(0x1fffff);
    memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      memory = nullptr;
      capacity = 0;
    }
#ifdef MADV_HUGEPAGE
    else
      madvise(memory, capacity, MADV_HUGEPAGE);
#endif
  }
  return memory;
}

void Arena::release() {
  if (memory)
    munmap(memory, capacity);
  memory = nullptr;
  capacity = 0;
}

Reserve::Reserve() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  isLimited = true;
  memory = mmap(nullptr, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

Reserve::~Reserve() {
  if (memory != MAP_FAILED)
    munmap(memory, size);
}

SignalStack::SignalStack() {
  stack_t now;
  if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
    return;
  // Linux saves all vector registers and AMX tiles on this stack.
  size = std::max<size_t>(sysconf(_SC_SIGSTKSZ), size_t(64) << 10);
  memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  stack_t ours = {};
  ours.ss_sp = memory;
  ours.ss_size = size;
  if (memory != MAP_FAILED && sigaltstack(&ours, nullptr) == 0)
    return;
  if (memory != MAP_FAILED)
    munmap(memory, size);
  memory = MAP_FAILED;
}

SignalStack::~SignalStack() {
  if (memory == MAP_FAILED)
    return;
  stack_t now;
  // Another signal stack may have replaced this one.
  if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(memory, size);
}

/// A pointer, not an object with a destructor: if there is no memory to
/// register the destructor, the C library ends the process.
static thread_local Kept *kept = nullptr;

Kept *Kept::get() {
  if (kept)
    return kept;
  static pthread_key_t key;
  static const bool hasKey = pthread_key_create(&key, [](void *value) {
                               kept = nullptr;
                               delete static_cast<Kept *>(value);
                             }) == 0;
  std::unique_ptr<Kept> made(new (std::nothrow) Kept);
  if (made && hasKey && pthread_setspecific(key, made.get()) == 0)
    kept = made.release();
  return kept;
}

void Kept::set(Kept &mine) { kept = &mine; }
