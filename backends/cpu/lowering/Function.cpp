// SPDX-License-Identifier: Apache-2.0
//
// Operations in program order: scalars become scalars, control flow stays, and
// what has to happen at its place (stores, reductions, products, values that
// are kept in scratch memory) becomes loops.

#include "Lowering.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

Lowering::Lowering(triton::FuncOp func, ModuleOp module)
    : func(func), module(module), plan(func), b(func.getLoc(), module) {}

/// Reports what cannot be lowered, once for each function, and goes on with
/// something of the right type. A message that does not say what to do instead,
/// in parentheses, gets what always helps.
Value Lowering::error(Operation *op, const Twine &message) {
  if (!hasFailed) {
    std::string text = message.str();
    if (!StringRef(text).ends_with(")"))
      text += " (use other operations of triton.language, or run the kernel on "
              "a GPU)";
    op->emitError() << "'" << op->getName() << "': " << text;
  }
  hasFailed = true;
  Type type = op->getNumResults() ? convert(op->getResult(0).getType())
                                  : Type(b.getI1Type());
  return LLVM::PoisonOp::create(b, type);
}

LogicalResult Lowering::run() {
  Type i32 = b.getI32Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> arguments;
  for (Type type : func.getArgumentTypes()) {
    if (isa<RankedTensorType, triton::TensorDescType>(type)) {
      func.emitError() << "a function with an argument of type " << type
                       << " is not supported on the CPU";
      return failure();
    }
    arguments.push_back(convert(type));
  }
  arguments.append(6, i32);
  arguments.push_back(pointer);
  b.setInsertionPointToEnd(module.getBody());
  b.setLoc(func.getLoc());
  target = LLVM::LLVMFuncOp::create(
      b, (func.getName() + ".program").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  arguments),
      LLVM::Linkage::Internal);
  int n = func.getNumArguments();
  target.setArgAttr(n + 6, LLVM::LLVMDialect::getNoAliasAttrName(),
                    b.getUnitAttr());
  Block *entry = target.addEntryBlock(b);
  for (int i = 0; i < n; ++i) {
    scalars[func.getArgument(i)] = entry->getArgument(i);
    if (auto divisor = func.getArgAttrOfType<IntegerAttr>(i, "tt.divisibility");
        divisor && divisor.getInt() > 0 && isa<IntegerType>(arguments[i]))
      facts.setDivisor(entry->getArgument(i), divisor.getInt());
  }
  for (int i = 0; i < 3; ++i) {
    programIds[i] = entry->getArgument(n + i);
    numPrograms[i] = entry->getArgument(n + 3 + i);
    facts.setLimit(programIds[i], INT32_MAX - 1);
    facts.setLimit(numPrograms[i], INT32_MAX);
  }
  scratch = entry->getArgument(n + 6);
  for (Block &block : func.getBody()) {
    if (block.isEntryBlock()) {
      blocks[&block] = entry;
      continue;
    }
    Block *created = b.createBlock(&target.getBody(), target.getBody().end());
    blocks[&block] = created;
    for (BlockArgument argument : block.getArguments()) {
      if (isa<RankedTensorType>(argument.getType())) {
        error(block.getParentOp(), "a tensor that is passed between branches "
                                   "is not supported on the CPU");
        return failure();
      }
      scalars[argument] =
          created->addArgument(convert(argument.getType()), argument.getLoc());
    }
  }
  for (Block &block : func.getBody()) {
    b.setInsertionPointToEnd(blocks[&block]);
    lowerBlock(block);
    lowerBranch(*block.getTerminator());
    if (hasFailed)
      return failure();
  }
  emitEntry();
  // As integers of 30 bits, which Python can read.
  constexpr int bits = 30;
  SmallVector<int32_t> stored(n / bits + 1);
  for (BlockArgument argument : func.getArguments())
    if (isa<triton::PointerType>(argument.getType()) &&
        mayStoreThrough(argument))
      stored[argument.getArgNumber() / bits] |=
          1 << argument.getArgNumber() % bits;
  for (auto [i, word] : llvm::enumerate(stored))
    module->setAttr("triton_ext_cpu.stored" + std::to_string(i),
                    b.getI32IntegerAttr(word));
  module->setAttr("triton_ext_cpu.scratch", b.getI64IntegerAttr(scratchSize));
  module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                  b.getStringAttr("x86_64-unknown-linux-gnu"));
  return failure(hasFailed);
}

/// The function that the runtime calls; see README.md for its contract.
void Lowering::emitEntry() {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  b.setInsertionPointToEnd(module.getBody());
  b.setLoc(func.getLoc());
  auto entry = LLVM::LLVMFuncOp::create(
      b, func.getName(),
      LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64, pointer, pointer}));
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    Value slot = offset(block->getArgument(0), constant(i64, 8 * i));
    Type converted = convert(type);
    Value value;
    if (converted.isInteger(1))
      value = arith::TruncIOp::create(
          b, converted, LLVM::LoadOp::create(b, b.getI8Type(), slot));
    else
      value = LLVM::LoadOp::create(b, converted, slot);
    arguments.push_back(value);
  }
  Value size[3], wide[3];
  for (int i = 0; i < 3; ++i) {
    size[i] = LLVM::LoadOp::create(
        b, i32, offset(block->getArgument(3), constant(i64, 4 * i)));
    wide[i] = arith::ExtUIOp::create(b, i64, size[i]);
  }
  // The runtime counts the flag up to have the programs that are left returned:
  // it looks whether the launch is to go on. Where there is no runtime, a
  // number that does not change is read in its place.
  StringRef flagName = "triton_ext_cpu_tick";
  if (!module.lookupSymbol(flagName)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, i32, /*isConstant=*/false,
                           LLVM::Linkage::ExternWeak, flagName, Attribute());
  }
  Value flag = LLVM::AddressOfOp::create(b, pointer, flagName);
  Value isThere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, flag,
                                       LLVM::ZeroOp::create(b, pointer));
  flag = LLVM::SelectOp::create(b, isThere, flag, block->getArgument(3));
  auto readFlag = [&] {
    return Value(LLVM::LoadOp::create(
        b, i32, flag, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic));
  };
  Value before = readFlag(), last = block->getArgument(2);
  Value goesOn = constant(b.getI1Type(), 1);
  auto loop = scf::WhileOp::create(b, TypeRange{i64, b.getI1Type()},
                                   ValueRange{block->getArgument(1), goesOn});
  Block *head = b.createBlock(&loop.getBefore(), {}, {i64, b.getI1Type()},
                              {b.getLoc(), b.getLoc()});
  Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       head->getArgument(0), last);
  scf::ConditionOp::create(
      b, arith::AndIOp::create(b, isLeft, head->getArgument(1)),
      head->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, {i64, b.getI1Type()},
                              {b.getLoc(), b.getLoc()});
  Value id = body->getArgument(0);
  auto narrow = [&](Value v) {
    return Value(arith::TruncIOp::create(b, i32, v));
  };
  Value rest = arith::DivUIOp::create(b, id, wide[0]);
  arguments.push_back(narrow(arith::RemUIOp::create(b, id, wide[0])));
  arguments.push_back(narrow(arith::RemUIOp::create(b, rest, wide[1])));
  arguments.push_back(narrow(arith::DivUIOp::create(b, rest, wide[1])));
  llvm::append_range(arguments, size);
  arguments.push_back(block->getArgument(4));
  LLVM::CallOp::create(b, target, arguments);
  Value next = arith::AddIOp::create(b, id, constant(i64, 1));
  goesOn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, readFlag(), before);
  scf::YieldOp::create(b, ValueRange{next, goesOn});
  b.setInsertionPointToEnd(block);
  LLVM::ReturnOp::create(
      b, narrow(arith::SubIOp::create(b, last, loop.getResult(0))));
}

void Lowering::lowerBranch(Operation &op) {
  b.setLoc(op.getLoc());
  current = &op;
  auto operands = [&](OperandRange values) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(scalars.lookup(value));
    return result;
  };
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](triton::ReturnOp op) {
        if (op->getNumOperands())
          error(op,
                "a kernel that returns a value is not supported on the CPU");
        else
          LLVM::ReturnOp::create(b, ValueRange());
      })
      .Case([&](cf::BranchOp branch) {
        LLVM::BrOp::create(b, operands(branch.getDestOperands()),
                           blocks[branch.getDest()]);
      })
      .Case([&](cf::CondBranchOp branch) {
        LLVM::CondBrOp::create(b, scalars.lookup(branch.getCondition()),
                               blocks[branch.getTrueDest()],
                               operands(branch.getTrueDestOperands()),
                               blocks[branch.getFalseDest()],
                               operands(branch.getFalseDestOperands()));
      })
      .Default([&](Operation *op) { error(op, "not supported on the CPU"); });
}

void Lowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    current = &op;
    lowerOp(op);
    if (hasFailed)
      return;
  }
}

void Lowering::lowerOp(Operation &op) {
  StringRef name = op.getName().getStringRef();
  // What is there for the compilers of GPUs.
  if (isa<triton::GridDependencyWaitOp,
          triton::GridDependencyLaunchDependentsOp>(op) ||
      name == "llvm.intr.assume")
    return;
  // A program is one thread, which need not wait for itself. But kernels put
  // tl.debug_barrier between their data and the flag that says that it is
  // there: LLVM must not reorder the two. No instruction on x86.
  if (isBarrier(&op)) {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel);
    return;
  }
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](scf::ForOp op) { lowerFor(op); })
      .Case([&](scf::IfOp op) { lowerIf(op); })
      .Case([&](scf::WhileOp op) { lowerWhile(op); })
      .Case([&](triton::StoreOp op) { lowerStore(op); })
      .Case<triton::AtomicRMWOp, triton::AtomicCASOp, triton::AtomicLoadOp,
            triton::AtomicStoreOp>([&](Operation *op) { lowerAtomic(op); })
      .Case([&](triton::AtomicPollOp op) { lowerPoll(op); })
      .Case([&](triton::PrintOp op) { lowerPrint(op); })
      .Case([&](triton::AssertOp op) { lowerAssert(op); })
      .Case([&](triton::ScanOp op) { lowerScan(op); })
      .Case([&](triton::DotOp op) { lowerDot(op); })
      .Case([&](triton::DotScaledOp op) { lowerDotScaled(op); })
      .Case([&](triton::HistogramOp op) { lowerHistogram(op); })
      .Case([&](triton::MapElementwiseOp op) { lowerMap(op); })
      .Case([&](triton::GetProgramIdOp op) {
        scalars[op] = programIds[op.getAxisAsInt()];
      })
      .Case([&](triton::GetNumProgramsOp op) {
        scalars[op] = numPrograms[op.getAxisAsInt()];
      })
      .Case([&](triton::UnsplatOp op) {
        withScope(1, [&] {
          scalars[op] = toScalar(evalTensor(op, op->getResult(0), {}));
        });
      })
      .Default([&](Operation *op) {
        if (auto reduce = dyn_cast<triton::ReduceOp>(op);
            reduce && isRoot(reduce))
          return lowerReduce(reduce);
        if (op->getNumResults() == 0 || isRoot(op)) {
          error(op, "not supported on the CPU");
          return;
        }
        bool isScalar = llvm::none_of(op->getResultTypes(), [](Type type) {
          return isa<RankedTensorType>(type);
        });
        if (!isScalar) {
          for (Value result : op->getResults())
            if (plan.isStored(result)) {
              Buffer buffer = allocateFor(result);
              auto load = dyn_cast<triton::LoadOp>(op);
              materialize(result, buffer, load && isVolatile(load) ? 1 : 16);
              buffers[result] = buffer;
            }
          return;
        }
        withScope(1, [&] {
          if (auto number = dyn_cast<arith::ConstantOp>(op)) {
            auto value = cast<TypedAttr>(number.getValue());
            if (auto floating = dyn_cast<FloatAttr>(value);
                floating && isa<IntegerType>(convert(floating.getType())))
              value = b.getIntegerAttr(convert(floating.getType()),
                                       floating.getValue().bitcastToAPInt());
            scalars[op->getResult(0)] = arith::ConstantOp::create(b, value);
            return;
          }
          SmallVector<Lanes> operands;
          for (Value operand : op->getOperands()) {
            if (isa<RankedTensorType>(operand.getType()) ||
                op->getNumResults() != 1 || op->getNumRegions()) {
              error(op, "not supported on the CPU");
              return;
            }
            operands.push_back(eval(operand, {}));
          }
          if (auto load = dyn_cast<triton::LoadOp>(op)) {
            Lanes *mask = load.getMask() ? &operands[1] : nullptr;
            Lanes *other = load.getOther() ? &operands[2] : nullptr;
            scalars[load] =
                toScalar(loadLanes(convert(load.getType()), operands[0], mask,
                                   other, isVolatile(load)));
            return;
          }
          scalars[op->getResult(0)] = toScalar(elementwise(op, operands));
        });
      });
}

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// The scalars among `values`; the tensors are written to `targets`, in an
/// order in which none is overwritten while another still needs it.
SmallVector<Value> Lowering::yieldValues(OperandRange values,
                                         ArrayRef<Buffer> targets) {
  SmallVector<Value> results;
  SmallVector<std::pair<Value, Buffer>> pending;
  int next = 0;
  for (Value value : values) {
    if (!isTensor(value)) {
      results.push_back(scalars.lookup(value));
      continue;
    }
    const Buffer &target = targets[next++];
    auto it = buffers.find(value);
    if (it == buffers.end() || it->second.ptr != target.ptr)
      pending.push_back({value, target});
  }
  // What each value reads: all buffers that its expression reaches, and
  // whether it does so only at its own coordinates.
  auto reads = [&](Value value, Value ptr, bool &isElsewhere) {
    DenseSet<Value> seen;
    bool found = false;
    std::function<void(Value, bool)> walk = [&](Value v, bool elsewhere) {
      if (!isTensor(v) || (!seen.insert(v).second && !elsewhere))
        return;
      if (auto it = buffers.find(v); it != buffers.end()) {
        if (it->second.ptr == ptr) {
          found = true;
          isElsewhere |= elsewhere;
        }
        return;
      }
      Operation *op = v.getDefiningOp();
      if (!op || seen.size() > 2000)
        return;
      bool moves =
          isa<triton::BroadcastOp, triton::ExpandDimsOp, triton::TransOp,
              triton::ReshapeOp, triton::JoinOp, triton::CatOp, triton::SplitOp,
              triton::GatherOp, triton::ReduceOp>(op);
      for (Value operand : op->getOperands())
        walk(operand, elsewhere || moves);
    };
    walk(value, false);
    return found;
  };
  SmallVector<std::pair<Buffer, Buffer>> copies;
  while (!pending.empty()) {
    auto isSafe = [&](auto &candidate) {
      bool elsewhere = false;
      reads(candidate.first, candidate.second.ptr, elsewhere);
      if (elsewhere)
        return false;
      for (auto &other : pending) {
        bool ignored = false;
        if (&other != &candidate &&
            reads(other.first, candidate.second.ptr, ignored))
          return false;
      }
      return true;
    };
    auto it = llvm::find_if(pending, isSafe);
    if (it != pending.end()) {
      materialize(it->first, it->second);
      pending.erase(it);
      continue;
    }
    auto [value, target] = pending.pop_back_val();
    Buffer temporary = allocate(target.element, target.shape);
    materialize(value, temporary);
    copies.push_back({temporary, target});
  }
  for (auto &[from, to] : copies)
    copy(from, to);
  return results;
}

void Lowering::lowerFor(scf::ForOp op) {
  SmallVector<Value> inits;
  SmallVector<Buffer> targets;
  for (auto [init, argument] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    if (!isTensor(init)) {
      inits.push_back(scalars.lookup(init));
      continue;
    }
    auto type = cast<RankedTensorType>(init.getType());
    Buffer buffer = allocate(convert(type), type.getShape());
    targets.push_back(buffer);
    materialize(init, buffer);
    buffers[argument] = buffer;
  }
  auto loop = scf::ForOp::create(b, scalars.lookup(op.getLowerBound()),
                                 scalars.lookup(op.getUpperBound()),
                                 scalars.lookup(op.getStep()), inits);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  scalars[op.getInductionVar()] = loop.getInductionVar();
  int next = 0;
  for (Value argument : op.getRegionIterArgs())
    if (!isTensor(argument))
      scalars[argument] = loop.getRegionIterArg(next++);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = loop.getBody();
    bool hasYield = !body->empty();
    b.setInsertionPointToStart(body);
    lowerBlock(*op.getBody());
    if (hasFailed)
      return;
    SmallVector<Value> values = yieldValues(
        cast<scf::YieldOp>(op.getBody()->getTerminator()).getOperands(),
        targets);
    if (!hasYield)
      scf::YieldOp::create(b, values);
  }
  int scalar = 0, tensor = 0;
  for (Value result : op.getResults()) {
    if (isTensor(result))
      buffers[result] = targets[tensor++];
    else
      scalars[result] = loop.getResult(scalar++);
  }
}

void Lowering::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  SmallVector<Buffer> targets;
  for (Value result : op.getResults()) {
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      targets.push_back(allocate(convert(type), type.getShape()));
    else
      types.push_back(convert(result.getType()));
  }
  auto branch = scf::IfOp::create(b, types, scalars.lookup(op.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/
                                  op.elseBlock() != nullptr);
  auto lower = [&](Block *from, Block *to) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    lowerBlock(*from);
    if (hasFailed)
      return;
    SmallVector<Value> values = yieldValues(
        cast<scf::YieldOp>(from->getTerminator()).getOperands(), targets);
    if (to->empty() || !to->back().hasTrait<OpTrait::IsTerminator>())
      scf::YieldOp::create(b, values);
  };
  lower(op.thenBlock(), branch.thenBlock());
  if (op.elseBlock() && !hasFailed)
    lower(op.elseBlock(), branch.elseBlock());
  int scalar = 0, tensor = 0;
  for (Value result : op.getResults()) {
    if (isTensor(result))
      buffers[result] = targets[tensor++];
    else
      scalars[result] = branch.getResult(scalar++);
  }
}

void Lowering::lowerWhile(scf::WhileOp op) {
  SmallVector<Value> inits;
  SmallVector<Type> types;
  SmallVector<Buffer> before, after;
  auto bufferFor = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    Buffer buffer = allocate(convert(type), type.getShape());
    buffers[value] = buffer;
    return buffer;
  };
  for (auto [init, argument] :
       llvm::zip(op.getInits(), op.getBeforeArguments())) {
    if (isTensor(init)) {
      before.push_back(bufferFor(argument));
      materialize(init, before.back());
    } else {
      inits.push_back(scalars.lookup(init));
    }
  }
  for (Value argument : op.getAfterArguments()) {
    if (isTensor(argument))
      after.push_back(bufferFor(argument));
    else
      types.push_back(convert(argument.getType()));
  }
  auto loop = scf::WhileOp::create(b, types, inits);
  auto region = [&](Region &from, Region &to, ArrayRef<Type> arguments) {
    Block *block = b.createBlock(&to);
    for (Type type : arguments)
      block->addArgument(type, op.getLoc());
    int next = 0;
    for (Value argument : from.getArguments())
      if (!isTensor(argument))
        scalars[argument] = block->getArgument(next++);
    b.setInsertionPointToStart(block);
    lowerBlock(from.front());
  };
  {
    OpBuilder::InsertionGuard guard(b);
    region(op.getBefore(), loop.getBefore(),
           llvm::to_vector(ValueRange(inits).getTypes()));
    if (hasFailed)
      return;
    auto condition = op.getConditionOp();
    SmallVector<Value> values = yieldValues(condition.getArgs(), after);
    scf::ConditionOp::create(b, scalars.lookup(condition.getCondition()),
                             values);
    region(op.getAfter(), loop.getAfter(), types);
    if (hasFailed)
      return;
    scf::YieldOp::create(b, yieldValues(op.getYieldOp().getOperands(), before));
  }
  int scalar = 0, tensor = 0;
  for (Value result : op.getResults()) {
    if (isTensor(result))
      buffers[result] = after[tensor++];
    else
      scalars[result] = loop.getResult(scalar++);
  }
}
