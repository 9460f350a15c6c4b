// SPDX-License-Identifier: Apache-2.0
//
// Reads counters of the processor, in inline assembly of the target.

#ifndef TRITON_EXT_LOWER_PROBE_CLOCK_H
#define TRITON_EXT_LOWER_PROBE_CLOCK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::triton_ext::lower_probe {

/// The attribute of a module that names the target, such as "cuda:90",
/// "hip:gfx942" or "x86-64", and those with the number of warps and their size.
inline constexpr StringRef kTarget = "probe.target";
inline constexpr StringRef kNumWarps = "probe.num_warps";
inline constexpr StringRef kWarpSize = "probe.warp_size";

/// The attribute of a module whose probes are not made of assembly, but for the
/// clocks. So the code for other GPUs can run on one of NVIDIA.
inline constexpr StringRef kNoAssembly = "probe.no_assembly";

enum class Counter {
  Cycles, ///< of this processor, 64 bits
  Global, ///< nanoseconds or ticks of one clock of the device; 0 if it has none
  Unit,   ///< which processor the program runs on
};

class Clock {
public:
  /// Reads the target from the attributes of `module`.
  explicit Clock(ModuleOp module);

  /// Returns whether the module has a known target.
  bool isKnown() const { return isNvidia || isAmd || isX86; }
  /// Returns whether code may be assembly of NVIDIA.
  bool hasPtx() const { return isNvidia && !isWithoutAssembly; }
  bool isOfAmd() const { return isAmd; }
  bool isGpu() const { return isNvidia || isAmd; }
  /// Returns whether kernels can call the runtime of the CPU backend.
  bool hasRuntime() const { return isX86; }

  /// Returns the number of threads of a program; 0 if a program is one thread,
  /// whose values are scalars.
  int64_t numThreads() const { return isX86 ? 0 : numWarps * warpSize; }
  int64_t threadsOfWarp() const { return warpSize; }
  int64_t warps() const { return isX86 ? 1 : numWarps; }

  /// Reads a counter where `b` is, as i64: a scalar of which each thread has
  /// its own value, or a tensor with a lane for each thread.
  Value read(ImplicitLocOpBuilder &b, Counter counter, bool isTensor);

private:
  struct Assembly {
    std::string text, result, clobbers;
  };
  Assembly assemblyOf(Counter counter) const;

  bool isNvidia = false, isAmd = false, isX86 = false;
  bool isWithoutAssembly = false;
  /// 9, 10, 11, … of AMD.
  unsigned generation = 0;
  bool hasDies = false; ///< several dies in one device, AMD
  int64_t numWarps = 1, warpSize = 1;
  unsigned numReads = 0;
};

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_CLOCK_H
