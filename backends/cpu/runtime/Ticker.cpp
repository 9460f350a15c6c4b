// SPDX-License-Identifier: Apache-2.0
//
// One thread for the whole process. It sleeps while no kernel runs.

#include "Ticker.h"

#include "ThreadMemory.h"

#include <chrono>
#include <memory>
#include <new>
#include <pthread.h>
#include <system_error>
#include <thread>

using namespace triton_ext::cpu;

/// Kernels read this counter after each program; see Kernel.
extern "C" __attribute__((visibility("default"))) std::atomic<uint32_t>
    triton_ext_cpu_tick;
std::atomic<uint32_t> triton_ext_cpu_tick{0};

/// Null until a kernel needs the ticker, and in a forked child.
static std::atomic<Ticker *> ticker{nullptr};

Ticker *Ticker::enter() {
  Ticker *there = ticker.load(std::memory_order_acquire);
  if (!there) {
    static std::mutex making;
    static std::chrono::steady_clock::time_point notBefore{};
    std::unique_lock lock(making, std::try_to_lock);
    auto now = std::chrono::steady_clock::now();
    if (!lock || now < notBefore)
      return nullptr;
    there = ticker.load(std::memory_order_acquire);
    if (!there) {
      static std::once_flag once;
      std::call_once(once, [] {
        pthread_atfork(nullptr, nullptr, [] { ticker = nullptr; });
      });
      try {
        // With limited address space, the threads of the launch may need all
        // that is left for their own data, so the ticker takes none of it.
        if (Reserve().matters())
          throw std::bad_alloc();
        auto made = std::make_unique<Ticker>();
        std::thread([made = made.get()] { made->loop(); }).detach();
        there = made.release(); // its thread never ends
        ticker.store(there, std::memory_order_release);
      } catch (
          const std::system_error &) { // a limit of the process, or of the user
        notBefore = now + std::chrono::seconds(1);
        return nullptr;
      } catch (const std::bad_alloc &) {
        notBefore = now + std::chrono::seconds(1);
        return nullptr;
      }
    }
  }
  there->users.fetch_add(1);
  if (there->sleeps.load()) {
    std::lock_guard lock(there->mutex);
    there->wake.notify_one();
  }
  return there;
}

void Ticker::loop() {
  int idle = 0;
  for (;;) {
    std::unique_lock lock(mutex);
    if (idle == 50) { // a second
      sleeps = true;
      wake.wait(lock, [&] { return users.load() > 0; });
      sleeps = false;
      idle = 0;
    }
    // The predicate is false, so this sleeps for the whole 20 ms.
    wake.wait_for(lock, std::chrono::milliseconds(20), [] { return false; });
    idle = users.load() > 0 ? 0 : idle + 1;
    if (!idle)
      triton_ext_cpu_tick.fetch_add(1, std::memory_order_relaxed);
  }
}
