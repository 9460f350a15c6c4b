// SPDX-License-Identifier: Apache-2.0
//
// Makes the pointers that functions take and return unranked memrefs, with
// casts inside of the functions. Leaves tensors of pointers untouched.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::triton_ptr_to_memref {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONPTRTOMEMREFPASS
#include "TritonPtrToMemref.h.inc"
} // namespace mlir::triton_ext::triton_ptr_to_memref

using namespace mlir;
namespace tt = mlir::triton;

/// Returns the type that a function takes in place of `type`.
static Type converted(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(type);
  if (!pointer)
    return type;
  return UnrankedMemRefType::get(pointer.getPointeeType(), /*memorySpace=*/0);
}

static Value cast(OpBuilder &builder, Location loc, Value value, Type type) {
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// Casts the operands whose types are those of a function.
static void castOperands(Operation *op, MutableOperandRange operands) {
  OpBuilder builder(op);
  for (OpOperand &operand : operands) {
    Type type = converted(operand.get().getType());
    if (type != operand.get().getType())
      operand.set(cast(builder, op->getLoc(), operand.get(), type));
  }
}

/// Changes the types of values that a function or a call defines, and casts
/// them back for those that use them.
static void castValues(OpBuilder &builder, Location loc, ValueRange values) {
  for (Value value : values) {
    Type pointer = value.getType(), type = converted(pointer);
    if (type == pointer)
      continue;
    value.setType(type);
    Value back = cast(builder, loc, value, pointer);
    value.replaceAllUsesExcept(back, back.getDefiningOp());
  }
}

static void convertFunction(FunctionOpInterface function) {
  auto type = dyn_cast<FunctionType>(function.getFunctionType());
  if (!type)
    return;
  auto types = [](ArrayRef<Type> from) {
    return llvm::map_to_vector(from, converted);
  };
  function.setType(FunctionType::get(function.getContext(),
                                     types(type.getInputs()),
                                     types(type.getResults())));
  if (function.isExternal())
    return;
  Region &body = function.getFunctionBody();
  OpBuilder builder = OpBuilder::atBlockBegin(&body.front());
  castValues(builder, function.getLoc(), body.getArguments());
  for (Block &block : body) {
    Operation *end = block.getTerminator();
    if (auto op = dyn_cast<tt::ReturnOp>(end))
      castOperands(op, op.getSrcsMutable());
    else if (auto op = dyn_cast<func::ReturnOp>(end))
      castOperands(op, op.getOperandsMutable());
  }
}

static void convertCall(CallOpInterface call) {
  castOperands(call, call.getArgOperandsMutable());
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  castValues(builder, call.getLoc(), call->getResults());
}

namespace {
struct TritonPtrToMemrefPass
    : mlir::triton_ext::triton_ptr_to_memref::impl::TritonPtrToMemrefPassBase<
          TritonPtrToMemrefPass> {
  using TritonPtrToMemrefPassBase::TritonPtrToMemrefPassBase;

  void runOnOperation() override {
    SmallVector<CallOpInterface> calls;
    DenseSet<StringAttr> called;
    getOperation().walk([&](CallOpInterface call) {
      if (!isa<tt::CallOp, func::CallOp>(call.getOperation()))
        return;
      auto callee = cast<SymbolRefAttr>(call.getCallableForCallee());
      calls.push_back(call);
      called.insert(callee.getLeafReference());
    });
    getOperation().walk([&](FunctionOpInterface function) {
      if (isa<tt::FuncOp, func::FuncOp>(function.getOperation()) &&
          !(publicOnly && called.contains(function.getNameAttr())))
        convertFunction(function);
    });
    if (!publicOnly)
      llvm::for_each(calls, convertCall);
  }
};
} // namespace
