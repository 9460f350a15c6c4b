// SPDX-License-Identifier: Apache-2.0
//
// Decides in a signal handler whether a fault is that of a kernel, and makes
// the thread leave the kernel.

#include "Fault.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>

using namespace triton_ext::cpu;

namespace {
/// Compiled code may use this many bytes below the stack pointer.
constexpr uintptr_t redZone = 128;

/// A fault this close to the stack pointer may be an overflow of the stack, on
/// which nothing can be called.
constexpr uintptr_t nearStack = uintptr_t(64) << 10;

/// The words of the stack in which the call of a function of libc is looked
/// for; these functions have small frames.
constexpr int mostWords = 256;

/// What the handler knows, for `fail`. The text is in static memory.
struct Fault {
  std::string_view name;
  uintptr_t place, address;
  bool hasAddress, isProtected;
};
/// In static thread-local storage, because the handler must not allocate.
__attribute__((tls_model("initial-exec"))) constinit thread_local Fault fault{};

/// An address range of code, and whether it belongs to the kernel.
struct Code {
  uintptr_t place; // what is looked for
  uintptr_t kernel;
  uintptr_t begin = 0, end = 0;
  bool isKernel = false, isKnown = false;
};

bool contains(const dl_phdr_info &object, const void *address) {
  auto place = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD &&
        place - (object.dlpi_addr + part.p_vaddr) < part.p_memsz)
      return true;
  }
  return false;
}

/// Finds the segment with `code.place`. Stops the search there.
int findCode(dl_phdr_info *object, size_t, void *context) {
  Code &code = *static_cast<Code *>(context);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) ||
        code.place - begin >= part.p_memsz)
      continue;
    code.begin = begin;
    code.end = begin + part.p_memsz;
    code.isKernel =
        contains(*object, reinterpret_cast<const void *>(code.kernel));
    // Kernels call the runtime, libm, and libc for copies of memory.
    static double (*const volatile ofMath)(double, double) = fmod;
    static void *(*const volatile ofLibc)(void *, const void *, size_t) =
        memcpy;
    code.isKnown =
        code.isKernel ||
        contains(*object, reinterpret_cast<const void *>(&findCode)) ||
        contains(*object, reinterpret_cast<const void *>(ofMath)) ||
        contains(*object, reinterpret_cast<const void *>(ofLibc));
    return 1;
  }
  return 0;
}

/// Returns the place in the kernel from which the function that `stack` belongs
/// to was called, or 0. It is the first address of the kernel's code on the
/// stack.
uintptr_t findCaller(uintptr_t stack, uintptr_t kernel, uintptr_t top) {
  Code code{kernel, kernel};
  if (!dl_iterate_phdr(findCode, &code))
    return 0;
  stack = (stack + 7) & ~uintptr_t(7);
  for (int i = 0; i < mostWords && stack < top; ++i, stack += 8) {
    uintptr_t word = *reinterpret_cast<const uintptr_t *>(stack);
    if (word > code.begin && word < code.end)
      return word - 1; // in the call, not behind it
  }
  return 0;
}

/// Where the thread goes on: fails the launch and leaves the kernel.
[[noreturn]] void land() {
  Running &mine = *running;
  mine.isInKernel = false;
  Job &job = mine.job;
  job.fail([&] {
    const int32_t *grid = job.launch.grid;
    int64_t program = mine.program;
    std::string text = std::string(fault.name) + " in the kernel " +
                       job.launch.name + ", program (" +
                       std::to_string(program % grid[0]) + ", " +
                       std::to_string(program / grid[0] % grid[1]) + ", " +
                       std::to_string(program / grid[0] / grid[1]) + "): ";
    char address[32];
    snprintf(address, sizeof address, "0x%zx", fault.address);
    if (fault.hasAddress)
      text += std::string("it loaded from or stored to ") + address +
              (fault.isProtected ? ", which is protected, as read-only memory "
                                   "is"
                                 : ", where no memory is");
    else
      text += "it loaded from or stored to an address that no memory can have";
    job.faultPlace = fault.place;
    return text + " (fix: compare masks and offsets with the sizes of the "
                  "tensors; TRITON_EXT_CPU_CHECK=1 names the tensor and the "
                  "index)";
  });
  longjmp(mine.target, 1);
}
} // namespace

bool triton_ext::cpu::leaveKernel(const siginfo_t &info, std::string_view name,
                                  void *context) {
  Running *mine = running;
  if (!mine || !mine->isInKernel ||
      (info.si_signo != SIGSEGV && info.si_signo != SIGBUS))
    return false;
  // While MLIR runs passes in any thread, LLVM's handler lies above this one.
  // It restores this one and raises the signal again. The thread goes on, and
  // if the instruction faults, the signal comes again with its address. A
  // second signal without a fault in between is somebody else's.
  if (info.si_code == SI_TKILL && info.si_pid == getpid() && !mine->isRaised) {
    mine->isRaised = true;
    return true;
  }
  // If the launch does not end here, another handler may raise the signal
  // again.
  mine->isRaised = true;
  if (info.si_code <= 0)
    return false;
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  auto place = uintptr_t(registers[REG_RIP]);
  auto stack = uintptr_t(registers[REG_RSP]);
  auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  bool hasAddress = info.si_code != SI_KERNEL;
  if (hasAddress && address - (stack - nearStack) < 2 * nearStack)
    return false;
  // The search takes the lock of the dynamic linker. This thread does not have
  // it: it is in a kernel, whose calls were resolved when it was loaded.
  auto kernel = reinterpret_cast<uintptr_t>(mine->job.launch.kernel);
  Code code{place, kernel};
  if (!dl_iterate_phdr(findCode, &code) || !code.isKnown)
    return false;
  if (!code.isKernel)
    place = findCaller(stack, kernel, reinterpret_cast<uintptr_t>(mine));
  fault = {name, place, address, hasAddress,
           info.si_signo == SIGSEGV && info.si_code == SEGV_ACCERR};
  // As a call would: the stack is aligned below the return address.
  registers[REG_RSP] = greg_t(((stack - redZone) & ~uintptr_t(15)) - 8);
  registers[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(&land));
  return true;
}
