// SPDX-License-Identifier: Apache-2.0
//
// Lowers one Triton function to loops over vectors. Tensors are expressions
// that are evaluated at coordinates, one group of lanes at a time, inside the
// loops of the operation that needs them. See RATIONALE.md.

#ifndef TRITON_EXT_CPU_FUNCTIONLOWERING_H
#define TRITON_EXT_CPU_FUNCTIONLOWERING_H

#include "GridOrder.h"
#include "ProgramOrder.h"
#include "Roots.h"
#include "SharedPanels.h"

namespace mlir::triton_ext::cpu {

/// Owns the parts of the lowering, and lowers operations in program order.
class FunctionLowering {
public:
  FunctionLowering(triton::FuncOp function, ModuleOp module, Target target);

  /// Adds the lowered function and its entry to the module. If it fails, it has
  /// reported the operation that is not supported.
  LogicalResult run();

private:
  LogicalResult createProgram();
  LogicalResult createBlocks();

  void lowerBlock(Block &block);
  void lowerOp(Operation &op);
  void lowerTensors(Operation *op);
  void lowerScalar(Operation *op);

  // Control flow (ControlFlow.cpp)
  void lowerFor(scf::ForOp op);
  void lowerIf(scf::IfOp op);
  void lowerWhile(scf::WhileOp op);
  void lowerBranch(Operation &op);

  Buffer allocate(Value tensor);
  void setResults(Operation *op, ResultRange lowered, ArrayRef<Buffer> tensors);

  Value reorderedProgram();

  ProgramOrder order;
  GridOrder gridOrder;
  LoweringContext context;
  LaneBuilder &b;
  Plan plan;
  LaneArithmetic arithmetic;
  MemoryAccess memory;
  Scratch scratch;
  FloatConversion conversion;
  MathFunctions mathFunctions;
  Elementwise elementwise;
  ElementFunctions elementFunctions;
  Evaluator evaluator;
  SplitPoints splits;
  TileSchedule tiles;
  ReduceLowering reductions;
  SharedPanels shared;
  DotLowering products;
  AccessLowering accesses;
  MessageLowering messages;

  /// The emitted function that runs one program, and its blocks.
  LLVM::LLVMFuncOp program;
  DenseMap<Block *, Block *> blocks;
};

/// Emits the function that the runtime calls for a range of programs
/// (Entry.cpp), the `Kernel` of runtime/Runtime.h. It calls `program` for each,
/// and returns how many programs it has not run.
void emitEntry(LoweringContext &context, LLVM::LLVMFuncOp program,
               const GridOrder &order);

/// Emits the store of the number of the program that runs, where it is not the
/// one that the entry has stored.
void correctNumberOfProgram(LoweringContext &context, Value number);

/// Sets attributes of the module that the driver reads: the size of the
/// kernel's scratch memory, and the pointers that the kernel may store through.
void describeKernel(LoweringContext &context, int64_t scratchSize);

/// Replaces the memory that `function` gets outside of its signature by one
/// more argument, and sets the attributes of the module that say how much each
/// program gets (ProfileScratch.cpp).
void passProfileScratch(triton::FuncOp function);

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_FUNCTIONLOWERING_H
