// SPDX-License-Identifier: Apache-2.0
//
// tl.device_print and tl.device_assert, which call the runtime, and calls of
// its other functions, which are prints with an attribute.

#include "Roots.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns "file:line", or an empty string if that is not known.
static std::string where(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().strref() + ":" + Twine(file.getLine())).str();
    return WalkResult::interrupt();
  });
  return text;
}

/// Emits a call that ends the launch with an error if `condition` holds.
static void failIf(Value condition, Location location, StringRef message,
                   LoweringContext &context) {
  LaneBuilder &b = context.b;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  context.declareFunction("triton_ext_cpu_assert_failed", {},
                          {pointer, pointer, i32, i32, i32});
  auto branch = scf::IfOp::create(b, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  LLVM::CallOp::create(b, TypeRange(), "triton_ext_cpu_assert_failed",
                       ValueRange{context.globalString(message),
                                  context.globalString(where(location)),
                                  context.grid.programIds[0],
                                  context.grid.programIds[1],
                                  context.grid.programIds[2]});
}

void MessageLowering::lower(triton::AssertOp op) {
  auto check = [&](const Coords &coords) {
    Lanes condition = evaluator.eval(op.getCondition(), coords);
    Value holds = condition.isUniform()
                      ? condition.base
                      : b.intrinsic("llvm.vector.reduce.and", b.getI1Type(),
                                    {b.toVector(condition)});
    failIf(arith::XOrIOp::create(b, holds, b.constant(b.getI1Type(), 1)),
           op.getLoc(), op.getMessage().str(), context);
  };
  auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
  if (!type)
    return evaluator.withScope(1, [&] { check({}); });
  tiles.forTile(type.getShape(), plan.contiguousDim(op.getCondition()), check);
}

/// The attribute of a print that stands for a call: the name of the function.
static constexpr StringLiteral callName = "triton_ext_cpu.call";

/// Emits `loops` and has LLVM leave them as they are: unrolled, they take more
/// time to compile than the rest of a call.
static void emitRolled(LaneBuilder &b, llvm::function_ref<void()> loops) {
  auto unroll = LLVM::LoopUnrollAttr::get(
      b.getContext(), /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  auto rolled =
      LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {},
                                    {}, {}, {}, {}, {}, {}, {}, {}, {});
  // An operation before the loops, from which they are found.
  Operation *start = LLVM::ZeroOp::create(b, b.getI64Type());
  loops();
  for (Operation *op = start; op; op = op->getNextNode())
    op->walk(
        [&](scf::ForOp loop) { loop->setAttr("loop_annotation", rolled); });
  start->erase();
}

/// Calls a function of the runtime. The arguments are the program, and the
/// operands: scalars as they are, tensors as pointers to their elements, which
/// are row-major. An element of i1 is a byte. All tensors have one shape: one
/// loop writes them, and it is not split, because that is short to compile.
void MessageLowering::call(StringRef function, triton::PrintOp op) {
  SmallVector<Value> arguments(ArrayRef(context.grid.programIds));
  SmallVector<std::pair<Value, Buffer>> tensors;
  for (Value value : op.getArgs()) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor) {
      arguments.push_back(context.scalars.lookup(value));
      continue;
    }
    auto [known, isNew] = written.try_emplace({b.getInsertionBlock(), value});
    if (isNew) {
      known->second = scratch.allocate(loweredType(tensor.getElementType()),
                                       tensor.getShape());
      tensors.push_back({value, known->second});
    }
    arguments.push_back(known->second.ptr);
  }
  if (!tensors.empty())
    emitRolled(b, [&] {
      tiles.forTile(
          tensors.front().second.shape,
          plan.contiguousDim(tensors.front().first), [&](const Coords &coords) {
            for (auto &[value, buffer] : tensors)
              scratch.store(buffer, coords, evaluator.eval(value, coords));
          });
    });
  evaluator.withScope(1, [&] {
    SmallVector<Type> types = llvm::map_to_vector(
        arguments, [](Value value) { return value.getType(); });
    context.declareFunction(function, {}, types);
    LLVM::CallOp::create(b, TypeRange(), function, arguments);
  });
}

/// Calls the runtime once for each operand. The arguments are the prefix, the
/// number of the operand, the program, the shape, the kind of element, and the
/// elements.
void MessageLowering::lower(triton::PrintOp op) {
  if (auto function = op->getAttrOfType<StringAttr>(callName))
    return call(function, op);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  context.declareFunction(
      "triton_ext_cpu_print", {},
      {pointer, i32, i32, i32, i32, pointer, i32, pointer, i64});
  auto isBits = [](Type type) {
    auto floating = dyn_cast<FloatType>(type);
    return floating && floating.getWidth() == 8;
  };
  auto call = [&](int index, const Buffer &buffer, Type type, bool isSigned) {
    std::string shape;
    for (int64_t size : buffer.shape)
      shape += std::to_string(size) + " ";
    // 8-bit floats are printed as their bits, as on a GPU.
    std::string kind = isa<triton::PointerType>(type)                    ? "p"
                       : type.isBF16()                                   ? "b"
                       : isa<FloatType>(type) && !isBits(type)           ? "f"
                       : isSigned && !type.isInteger(1) && !isBits(type) ? "i"
                                                                         : "u";
    if (op.getHex())
      kind += type.isInteger(1) ? "x1" : "x";
    int64_t bytes = bytesOf(buffer.element);
    evaluator.withScope(1, [&] {
      LLVM::CallOp::create(
          b, TypeRange(), "triton_ext_cpu_print",
          ValueRange{
              context.globalString(op.getPrefix()), b.constant(i32, index),
              context.grid.programIds[0], context.grid.programIds[1],
              context.grid.programIds[2], context.globalString(kind),
              b.constant(i32, bytes), buffer.ptr,
              LLVM::PtrToIntOp::create(b, i64, context.globalString(shape))});
    });
  };
  if (op.getArgs().empty())
    call(-2, {Value(LLVM::ZeroOp::create(b, pointer)), b.getI8Type(), {}},
         b.getI8Type(), false);
  for (auto [i, value] : llvm::enumerate(op.getArgs())) {
    Type type = getElementTypeOrSelf(value.getType());
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    Buffer buffer = scratch.allocate(
        loweredType(type), tensor ? tensor.getShape() : ArrayRef<int64_t>());
    if (tensor)
      tiles.materialize(value, buffer);
    else
      evaluator.withScope(1, [&] {
        scratch.store(buffer, {},
                      Lanes::uniform(context.scalars.lookup(value)));
      });
    call(op.getArgs().size() > 1 ? int(i) : -1, buffer, type,
         op.getIsSigned()[i]);
  }
}
