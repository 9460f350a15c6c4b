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

/// Returns whether a load must not move across `op`, because `op` or an
/// operation inside of it may write memory that the load reads, or orders
/// accesses.
bool blocksLoads(Operation *op);

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
