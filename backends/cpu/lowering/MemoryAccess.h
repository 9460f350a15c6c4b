// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of lanes, and scratch memory.

#ifndef TRITON_EXT_CPU_MEMORYACCESS_H
#define TRITON_EXT_CPU_MEMORYACCESS_H

#include "Context.h"
#include "LaneArithmetic.h"

namespace mlir::triton_ext::cpu {

/// Loads and stores the lanes of a group. A lane whose mask is off never
/// touches memory.
class MemoryAccess {
public:
  explicit MemoryAccess(LaneBuilder &b) : b(b) {}

  /// Returns the loaded lanes; a lane whose `mask` is off gets `other`, or 0 if
  /// that is null. A volatile load must have one lane, since it is one access.
  Lanes load(Type element, const Lanes &ptr, const Lanes *mask,
             const Lanes *other, bool isVolatile = false);
  void store(Type element, const Lanes &ptr, const Lanes &value,
             const Lanes *mask);

private:
  LaneBuilder &b;
};

/// The scratch memory of a kernel: one block, from which buffers are allocated
/// one behind the other. A buffer is never freed.
class Scratch {
public:
  Scratch(LoweringContext &context, LaneArithmetic &arithmetic,
          MemoryAccess &memory)
      : b(context.b), arithmetic(arithmetic), memory(memory) {}

  /// Sets where the block begins: an argument of the emitted function.
  void setBase(Value pointer) { base = pointer; }
  /// Returns the current size of the block in bytes.
  int64_t size() const { return bytes; }

  Buffer allocate(Type element, ArrayRef<int64_t> shape);
  Lanes load(const Buffer &buffer, const Coords &coords);
  void store(const Buffer &buffer, const Coords &coords, const Lanes &value);

private:
  Lanes address(const Buffer &buffer, const Coords &coords);

  LaneBuilder &b;
  LaneArithmetic &arithmetic;
  MemoryAccess &memory;
  Value base;
  int64_t bytes = 0;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_MEMORYACCESS_H
