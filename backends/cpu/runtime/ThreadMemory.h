// SPDX-License-Identifier: Apache-2.0
//
// Memory that threads need in addition to their stacks.

#ifndef TRITON_EXT_CPU_THREADMEMORY_H
#define TRITON_EXT_CPU_THREADMEMORY_H

#include <cstddef>
#include <sys/mman.h>

namespace triton_ext::cpu {

/// Scratch memory that a thread keeps for the kernels that it runs.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  ~Arena() { release(); }
  /// Returns `size` bytes, or null if there is no memory. The next call may
  /// discard their contents.
  void *get(size_t size);

private:
  void release();

  void *memory = nullptr;
  size_t capacity = 0;
};

/// Reserves address space for the rest of the process while threads are made,
/// if a limit (RLIMIT_AS) is set.
class Reserve {
public:
  Reserve();
  Reserve(const Reserve &) = delete;
  ~Reserve();
  /// Returns whether the reserve could be allocated, or no limit is set.
  bool isThere() const { return !isLimited || memory != MAP_FAILED; }
  /// Returns whether the address space of the process is limited.
  bool matters() const { return isLimited; }

private:
  static constexpr size_t size = size_t(64) << 20;
  bool isLimited = false;
  void *memory = MAP_FAILED;
};

/// A stack for signal handlers, for as long as this thread lives. A thread that
/// already has a signal stack keeps its own.
class SignalStack {
public:
  SignalStack();
  SignalStack(const SignalStack &) = delete;
  ~SignalStack();

private:
  void *memory = MAP_FAILED;
  size_t size = 0;
};

/// The memory that a thread keeps from launch to launch.
struct Kept {
  Arena arena;
  SignalStack stack;

  /// Returns this thread's object; null if there is no memory for it.
  static Kept *get();
  /// Uses `mine` as the object of this thread, which must never end.
  static void set(Kept &mine);
};

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_THREADMEMORY_H
