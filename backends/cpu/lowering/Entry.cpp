// SPDX-License-Identifier: Apache-2.0
//
// The function that the runtime calls: a loop over programs.

#include "FunctionLowering.h"

#include "Operations.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// The arguments of the entry.
enum EntryArgument : unsigned {
  argumentSlots, ///< the kernel's arguments, one slot each
  firstProgram,
  endProgram,
  gridSize, ///< three i32
  scratchBlock,
};

/// The bytes of a slot, and of a number of `gridSize`.
static constexpr int64_t slotBytes = 8, gridBytes = 4;

/// Declares the runtime's function that returns the address of this thread's
/// program number. After a fault, the runtime names this program.
static LLVM::LLVMFuncOp declarePlaceOfProgram(LoweringContext &context) {
  LaneBuilder &b = context.b;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  StringRef name = "triton_ext_cpu_program";
  if (auto function = context.module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(context.module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      b, b.getLoc(), name, LLVM::LLVMFunctionType::get(pointer, {}),
      LLVM::Linkage::ExternWeak);
  // It reads and writes no memory that the kernel can see: `memory(none)`.
  function.setPassthroughAttr(
      b.getArrayAttr({b.getStrArrayAttr({"memory", "0"})}));
  return function;
}

/// Emits an i1: whether `function` of the runtime is there.
static Value isThere(LaneBuilder &b, LLVM::LLVMFuncOp function) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value address = LLVM::AddressOfOp::create(b, pointer, function.getName());
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, address,
                              LLVM::ZeroOp::create(b, pointer));
}

/// Emits the store of the program's number.
static void storeNumber(LaneBuilder &b, Value number, Value place) {
  // Volatile, because the runtime reads it when the program faults.
  LLVM::StoreOp::create(b, number, place, /*alignment=*/8, /*isVolatile=*/true);
}

/// Emits the address to which the entry stores the number of the program that
/// runs: the runtime's, else one on the stack.
static Value emitPlaceOfProgram(LoweringContext &context) {
  LaneBuilder &b = context.b;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  LLVM::LLVMFuncOp function = declarePlaceOfProgram(context);
  Type i64 = b.getI64Type();
  Value unused = LLVM::AllocaOp::create(b, pointer, i64, b.constant(i64, 1));
  auto choice =
      scf::IfOp::create(b, pointer, isThere(b, function), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(choice.thenBlock());
  scf::YieldOp::create(
      b, LLVM::CallOp::create(b, function, ValueRange()).getResult());
  b.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(b, unused);
  return choice.getResult(0);
}

void mlir::triton_ext::cpu::correctNumberOfProgram(LoweringContext &context,
                                                   Value number) {
  LaneBuilder &b = context.b;
  LLVM::LLVMFuncOp function = declarePlaceOfProgram(context);
  auto branch = scf::IfOp::create(b, isThere(b, function), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  storeNumber(b, number,
              LLVM::CallOp::create(b, function, ValueRange()).getResult());
}

void mlir::triton_ext::cpu::emitEntry(LoweringContext &context,
                                      LLVM::LLVMFuncOp program,
                                      const GridOrder &order) {
  LaneBuilder &b = context.b;
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  b.setInsertionPointToEnd(context.module.getBody());
  b.setLoc(context.function.getLoc());
  auto entry = LLVM::LLVMFuncOp::create(
      b, context.function.getName(),
      LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64, pointer, pointer}));
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  for (auto [i, type] : llvm::enumerate(context.function.getArgumentTypes())) {
    Value slot = b.offset(block->getArgument(argumentSlots),
                          b.constant(i64, slotBytes * i));
    Type converted = loweredType(type);
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
        b, i32,
        b.offset(block->getArgument(gridSize), b.constant(i64, gridBytes * i)));
    wide[i] = arith::ExtUIOp::create(b, i64, size[i]);
  }
  // When the runtime increments the flag, the entry returns the number of
  // programs that are left, so that the runtime can check whether the launch
  // should go on. Without the runtime, the entry reads a number that does not
  // change instead of the flag.
  StringRef flagName = "triton_ext_cpu_tick";
  if (!context.module.lookupSymbol(flagName)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(context.module.getBody());
    LLVM::GlobalOp::create(b, i32, /*isConstant=*/false,
                           LLVM::Linkage::ExternWeak, flagName, Attribute());
  }
  Value flag = LLVM::AddressOfOp::create(b, pointer, flagName);
  Value hasFlag = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, flag,
                                       LLVM::ZeroOp::create(b, pointer));
  flag = LLVM::SelectOp::create(b, hasFlag, flag, block->getArgument(gridSize));
  Value current = emitPlaceOfProgram(context);
  Value first = wide[0], second = wide[1], isAlongY;
  if (order.mayRunAlongY) {
    isAlongY = order.runsAlongY(b, arguments);
    first = arith::SelectOp::create(b, isAlongY, wide[1], wide[0]);
    second = arith::SelectOp::create(b, isAlongY, wide[0], wide[1]);
  }
  auto readFlag = [&] {
    return Value(LLVM::LoadOp::create(
        b, i32, flag, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic));
  };
  Value before = readFlag(), last = block->getArgument(endProgram);
  Value goesOn = b.constant(b.getI1Type(), 1);
  auto loop = scf::WhileOp::create(
      b, TypeRange{i64, b.getI1Type()},
      ValueRange{block->getArgument(firstProgram), goesOn});
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
  Value rest = arith::DivUIOp::create(b, id, first), number = id;
  Value x = arith::RemUIOp::create(b, id, first);
  Value y = arith::RemUIOp::create(b, rest, second);
  Value z = arith::DivUIOp::create(b, rest, second);
  if (order.mayRunAlongY) {
    Value other = x;
    x = arith::SelectOp::create(b, isAlongY, y, x);
    y = arith::SelectOp::create(b, isAlongY, other, y);
    // The runtime counts along x first.
    number = arith::MulIOp::create(b, z, wide[1]);
    number = arith::AddIOp::create(b, number, y);
    number = arith::MulIOp::create(b, number, wide[0]);
    number = arith::AddIOp::create(b, number, x);
  }
  storeNumber(b, number, current);
  for (Value axis : {x, y, z})
    arguments.push_back(narrow(axis));
  llvm::append_range(arguments, size);
  arguments.push_back(block->getArgument(scratchBlock));
  LLVM::CallOp::create(b, program, arguments);
  Value next = arith::AddIOp::create(b, id, b.constant(i64, 1));
  goesOn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, readFlag(), before);
  scf::YieldOp::create(b, ValueRange{next, goesOn});
  b.setInsertionPointToEnd(block);
  LLVM::ReturnOp::create(
      b, narrow(arith::SubIOp::create(b, last, loop.getResult(0))));
}

void mlir::triton_ext::cpu::describeKernel(LoweringContext &context,
                                           int64_t scratchSize) {
  triton::FuncOp function = context.function;
  LaneBuilder &b = context.b;
  // A bit set of arguments, in words of 30 bits: Python reads each word as an
  // i32 attribute of the module.
  constexpr int bits = 30;
  SmallVector<int32_t> stored(function.getNumArguments() / bits + 1);
  Value scratch = scratchOfInstrumentation(function);
  for (BlockArgument argument : function.getArguments())
    if (isa<triton::PointerType>(argument.getType()) &&
        mayStoreThrough(argument, scratch))
      stored[argument.getArgNumber() / bits] |=
          1 << argument.getArgNumber() % bits;
  for (auto [i, word] : llvm::enumerate(stored))
    context.module->setAttr("triton_ext_cpu.stored" + std::to_string(i),
                            b.getI32IntegerAttr(word));
  if (mayWait(function))
    context.module->setAttr("triton_ext_cpu.waits", b.getI32IntegerAttr(1));
  context.module->setAttr("triton_ext_cpu.scratch",
                          b.getI64IntegerAttr(scratchSize));
  context.module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                          b.getStringAttr("x86_64-unknown-linux-gnu"));
}
