// SPDX-License-Identifier: Apache-2.0
//
// Lowers operations in program order. Scalars become scalars, and control flow
// stays. Operations that must run where they stand (stores, reductions,
// products, values that are kept in scratch memory) become loops.

#include "FunctionLowering.h"

#include "Operations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

// The emitted function has these arguments behind the arguments of the kernel:
// program_id and num_programs along three axes. The scratch memory follows.
static constexpr int numGridArguments = 6;

FunctionLowering::FunctionLowering(triton::FuncOp function, ModuleOp module,
                                   Target target)
    : order(function), gridOrder(function), context(function, module, target),
      b(context.b), plan(function, target.limits), arithmetic(b, context.facts),
      memory(b), scratch(context, arithmetic, memory), conversion(context),
      mathFunctions(context),
      elementwise(context, arithmetic, conversion, mathFunctions),
      elementFunctions(context, elementwise,
                       [this](Block &block) { lowerBlock(block); }),
      evaluator(context, arithmetic, memory, scratch, elementwise,
                elementFunctions),
      splits(context, evaluator),
      tiles(context, plan, arithmetic, evaluator, scratch, splits),
      reductions({context, plan, evaluator, tiles, scratch, splits},
                 elementFunctions),
      shared({context, plan, evaluator, tiles, scratch, splits}),
      products({context, plan, evaluator, tiles, scratch, splits}, conversion,
               shared),
      accesses({context, plan, evaluator, tiles, scratch, splits}, memory,
               conversion),
      messages({context, plan, evaluator, tiles, scratch, splits}) {
  context.nextPrograms = gridOrder.nextPrograms;
}

LogicalResult FunctionLowering::run() {
  if (failed(createProgram()) || failed(createBlocks()))
    return failure();
  for (Block &block : context.function.getBody()) {
    b.setInsertionPointToEnd(blocks[&block]);
    lowerBlock(block);
    lowerBranch(*block.getTerminator());
    if (context.hasFailed())
      return failure();
  }
  emitEntry(context, program, gridOrder);
  describeKernel(context, scratch.size());
  if (!shared.isEmpty())
    context.module->setAttr("triton_ext_cpu.together",
                            b.getI32IntegerAttr(shared.together));
  return failure(context.hasFailed());
}

/// Creates the function that runs one program.
LogicalResult FunctionLowering::createProgram() {
  triton::FuncOp function = context.function;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> arguments;
  for (Type type : function.getArgumentTypes()) {
    if (isa<RankedTensorType, triton::TensorDescType>(type)) {
      function.emitError() << "a function with an argument of type " << type
                           << " is not supported on the CPU";
      return failure();
    }
    arguments.push_back(loweredType(type));
  }
  int n = arguments.size();
  arguments.append(numGridArguments, b.getI32Type());
  arguments.push_back(pointer);
  b.setInsertionPointToEnd(context.module.getBody());
  b.setLoc(function.getLoc());
  program = LLVM::LLVMFuncOp::create(
      b, (function.getName() + ".program").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  arguments),
      LLVM::Linkage::Internal);
  program.setArgAttr(n + numGridArguments,
                     LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  Block *entry = program.addEntryBlock(b);
  for (int i = 0; i < n; ++i) {
    context.scalars[function.getArgument(i)] = entry->getArgument(i);
    auto divisor = function.getArgAttrOfType<IntegerAttr>(i, "tt.divisibility");
    if (divisor && divisor.getInt() > 0 && isa<IntegerType>(arguments[i]))
      context.facts.setDivisor(entry->getArgument(i), divisor.getInt());
  }
  for (int i = 0; i < 3; ++i) {
    Value id = context.grid.programIds[i] = entry->getArgument(n + i);
    Value count = context.grid.numPrograms[i] = entry->getArgument(n + 3 + i);
    context.facts.setLimit(id, INT32_MAX - 1);
    context.facts.setLimit(count, INT32_MAX);
  }
  scratch.setBase(entry->getArgument(n + numGridArguments));
  b.setInsertionPointToEnd(entry);
  shared.find(order);
  if (gridOrder.mayRunAlongY && !gridOrder.strides.empty() &&
      !context.nextPrograms.empty()) {
    context.isNextBeside = gridOrder.runsAlongY(
        b, llvm::to_vector_of<Value>(entry->getArguments()));
  }
  return success();
}

/// Creates a block for each block of the function, as the targets of branches.
LogicalResult FunctionLowering::createBlocks() {
  for (Block &block : context.function.getBody()) {
    if (block.isEntryBlock()) {
      blocks[&block] = &program.getBody().front();
      continue;
    }
    Block *created = b.createBlock(&program.getBody(), program.getBody().end());
    blocks[&block] = created;
    for (BlockArgument argument : block.getArguments()) {
      if (isa<RankedTensorType>(argument.getType())) {
        context.error(block.getParentOp(),
                      "a tensor that is passed between branches is not "
                      "supported on the CPU");
        return failure();
      }
      context.scalars[argument] = created->addArgument(
          loweredType(argument.getType()), argument.getLoc());
    }
  }
  return success();
}

void FunctionLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    context.current = &op;
    lowerOp(op);
    if (context.hasFailed())
      return;
  }
}

void FunctionLowering::lowerOp(Operation &op) {
  // These operations are hints for GPU compilers, which do not apply or do not
  // matter on the CPU.
  if (isa<triton::GridDependencyWaitOp,
          triton::GridDependencyLaunchDependentsOp>(op) ||
      op.getName().getStringRef() == "llvm.intr.assume")
    return;
  // A program is one thread, so it need not wait for other threads of the
  // program. But kernels put tl.debug_barrier between the store of data and the
  // store of the flag that announces it, and LLVM must not reorder the two. The
  // fence emits no instruction on x86.
  if (isBarrier(&op)) {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel);
    return;
  }
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](scf::ForOp op) { lowerFor(op); })
      .Case([&](scf::IfOp op) { lowerIf(op); })
      .Case([&](scf::WhileOp op) { lowerWhile(op); })
      .Case([&](triton::StoreOp op) {
        shared.storesTo(op);
        accesses.lower(op);
      })
      .Case([&](triton::AtomicPollOp op) { accesses.lower(op); })
      .Case<triton::AtomicRMWOp, triton::AtomicCASOp, triton::AtomicLoadOp,
            triton::AtomicStoreOp>(
          [&](Operation *op) { accesses.lowerAtomic(op); })
      .Case<triton::PrintOp, triton::AssertOp>(
          [&](auto op) { messages.lower(op); })
      .Case<triton::ScanOp, triton::HistogramOp, triton::MapElementwiseOp>(
          [&](auto op) { reductions.lower(op); })
      .Case([&](triton::DotOp op) { products.lower(op); })
      .Case([&](triton::GetProgramIdOp op) {
        context.scalars[op] = op.getResult() == order.id
                                  ? reorderedProgram()
                                  : context.grid.programIds[op.getAxisAsInt()];
      })
      .Case([&](triton::GetNumProgramsOp op) {
        context.scalars[op] = context.grid.numPrograms[op.getAxisAsInt()];
      })
      .Case([&](triton::UnsplatOp op) {
        evaluator.withScope(1, [&] {
          context.scalars[op] =
              b.toScalar(evaluator.evalTensor(op, op->getResult(0), {}));
        });
      })
      .Default([&](Operation *op) {
        auto reduce = dyn_cast<triton::ReduceOp>(op);
        if (reduce && isRoot(op))
          return reductions.lower(reduce);
        if (op->getNumResults() == 0 || isRoot(op)) {
          context.error(op, "not supported on the CPU");
          return;
        }
        bool hasTensors = llvm::any_of(op->getResultTypes(), [](Type type) {
          return isa<RankedTensorType>(type);
        });
        if (hasTensors)
          return lowerTensors(op);
        evaluator.withScope(1, [&] { lowerScalar(op); });
      });
}

/// Returns the number along x of the program that runs in place of this one.
Value FunctionLowering::reorderedProgram() {
  const auto &[ids, counts] = context.grid;
  Value id =
      order.reordered(b, ids[0], counts[0], context.scalar(order.columns));
  context.facts.setLimit(id, INT32_MAX - 1);
  // Counted along all axes, as the entry does.
  Type i64 = b.getI64Type();
  auto wide = [&](Value value) {
    return Value(arith::ExtUIOp::create(b, i64, value));
  };
  Value number = wide(ids[2]);
  for (int axis : {1, 0}) {
    number = arith::MulIOp::create(b, number, wide(counts[axis]));
    number = arith::AddIOp::create(b, number, wide(axis ? ids[axis] : id));
  }
  correctNumberOfProgram(context, number);
  return id;
}

/// Writes the results that the plan stores to scratch memory. The other results
/// are evaluated where they are needed.
void FunctionLowering::lowerTensors(Operation *op) {
  auto load = dyn_cast<triton::LoadOp>(op);
  int lanes = load && isVolatile(load) ? 1 : mostLanes;
  for (Value result : op->getResults())
    if (plan.isStored(result)) {
      Buffer buffer = tiles.allocateFor(result);
      buffer.runs = tiles.materialize(result, buffer, lanes);
      context.buffers[result] = buffer;
    }
}

void FunctionLowering::lowerScalar(Operation *op) {
  if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    context.scalars[number] = elementwise.constant(number).base;
    return;
  }
  SmallVector<Lanes> operands;
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType()) || op->getNumResults() != 1 ||
        op->getNumRegions()) {
      context.error(op, "not supported on the CPU");
      return;
    }
    operands.push_back(evaluator.eval(operand, {}));
  }
  Lanes result;
  if (auto load = dyn_cast<triton::LoadOp>(op)) {
    Lanes *mask = load.getMask() ? &operands[1] : nullptr;
    Lanes *other = load.getOther() ? &operands[2] : nullptr;
    result = memory.load(loweredType(load.getType()), operands[0], mask, other,
                         isVolatile(load));
  } else {
    result = elementwise.apply(op, operands);
  }
  context.scalars[op->getResult(0)] = b.toScalar(result);
}
