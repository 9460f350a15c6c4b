// SPDX-License-Identifier: Apache-2.0
//
// Properties of single Triton operations, which do not depend on the plan.

#ifndef TRITON_EXT_CPU_OPERATIONS_H
#define TRITON_EXT_CPU_OPERATIONS_H

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::cpu {

/// Returns whether `op` is a root. A root is lowered where it stands, and loops
/// of its own write its tensor results to scratch memory. Every other operation
/// is evaluated by the roots that need it.
bool isRoot(Operation *op);

/// Returns whether the reduction combines so few elements that it is not a
/// root. Then each root that needs a result combines the operands itself.
bool isSmallReduce(triton::ReduceOp op);

/// Returns whether the load is volatile: each lane is one access, which must
/// not move.
bool isVolatile(triton::LoadOp load);

/// Returns whether `op` is a barrier: all accesses before it happen before all
/// accesses after it.
bool isBarrier(Operation *op);

/// Returns the argument by which the launcher passes memory to passes that
/// instrument kernels; null if the kernel has none.
Value scratchOfInstrumentation(triton::FuncOp kernel);

/// Returns whether `address` is made of `scratch`, which
/// `scratchOfInstrumentation` has returned, or of a number in that memory. The
/// kernel's own code does not read this memory, so the address is one of the
/// pass that has instrumented the kernel: of its records or shadows.
bool isOfInstrumentation(Value address, Value scratch);

/// Returns whether a load must not move across `op`, because `op` or an
/// operation inside of it may write memory that the load reads, or orders
/// accesses. For a load that `isOfInstrumentation` is false of, `scratch` is
/// that argument: what only an instrumenting pass writes is apart from the
/// tensors of the kernel.
bool blocksLoads(Operation *op, Value scratch = {});

/// Returns whether a program of the kernel may wait for another one: it polls,
/// or a while loop has an atomic operation or a volatile load.
bool mayWait(triton::FuncOp kernel);

/// Returns the distance in bytes between neighbouring elements in memory, for a
/// pointer type or a tensor of pointers.
int64_t pointeeBytes(Type type);

/// Returns whether the kernel may store through its pointer `argument`. Stores
/// that an instrumenting pass has inserted do not count. They go to memory that
/// the pass finds by `scratch`, an argument of the launcher, which may be null.
bool mayStoreThrough(BlockArgument argument, Value scratch);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_OPERATIONS_H
