// SPDX-License-Identifier: Apache-2.0
//
// Memory of a launch that reaches a kernel outside of its signature:
// ttg.global_scratch_alloc with third_party_allocation. The launcher passes it
// as one more argument, behind all others.

#include "FunctionLowering.h"

#include "triton/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;
namespace tt = mlir::triton;
using tt::gpu::GlobalScratchAllocOp;

/// Adds an argument of type `type` behind the last one.
static Value appendArgument(tt::FuncOp function, Type type) {
  SmallVector<Type> inputs(function.getArgumentTypes());
  inputs.push_back(type);
  Value argument = function.getBody().addArgument(type, function.getLoc());
  if (ArrayAttr attributes = function.getArgAttrsAttr()) {
    SmallVector<Attribute> list(attributes.getValue());
    list.push_back(DictionaryAttr::get(function.getContext()));
    function.setArgAttrsAttr(ArrayAttr::get(function.getContext(), list));
  }
  function.setFunctionType(FunctionType::get(
      function.getContext(), inputs, function.getFunctionType().getResults()));
  return argument;
}

void mlir::triton_ext::cpu::passProfileScratch(tt::FuncOp function) {
  SmallVector<GlobalScratchAllocOp> allocations;
  function.walk([&](GlobalScratchAllocOp op) {
    if (op.getThirdPartyAllocation())
      allocations.push_back(op);
  });
  if (allocations.empty())
    return;
  int64_t size = 0, alignment = 1;
  SmallVector<int64_t> offsets;
  for (GlobalScratchAllocOp op : allocations) {
    int64_t own = std::max<int64_t>(op.getAlignment(), 1);
    offsets.push_back(size = llvm::alignTo(size, own));
    size += op.getNbytes();
    alignment = std::max(alignment, own);
  }
  size = llvm::alignTo(size, alignment);
  Value buffer = appendArgument(function, allocations.front().getType());
  for (auto [op, offset] : llvm::zip(allocations, offsets)) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Type i64 = builder.getI64Type();
    auto number = [&](int64_t value) {
      return Value(arith::ConstantOp::create(builder, loc,
                                             builder.getI64IntegerAttr(value)));
    };
    auto multiplyAdd = [&](Value a, Value b, Value c) {
      return Value(arith::AddIOp::create(
          builder, loc, arith::MulIOp::create(builder, loc, a, b), c));
    };
    auto id = [&](int axis) {
      return Value(arith::ExtUIOp::create(
          builder, loc, i64, tt::GetProgramIdOp::create(builder, loc, axis)));
    };
    auto count = [&](int axis) {
      return Value(arith::ExtUIOp::create(
          builder, loc, i64, tt::GetNumProgramsOp::create(builder, loc, axis)));
    };
    Value linear =
        multiplyAdd(multiplyAdd(id(2), count(1), id(1)), count(0), id(0));
    Value place = multiplyAdd(linear, number(size), number(offset));
    op.replaceAllUsesWith(
        Value(tt::AddPtrOp::create(builder, loc, op.getType(), buffer, place)));
    op.erase();
  }
  auto module = function->getParentOfType<ModuleOp>();
  Builder builder(function.getContext());
  module->setAttr("triton_ext_cpu.profile_scratch",
                  builder.getI32IntegerAttr(size));
  module->setAttr("triton_ext_cpu.profile_scratch_alignment",
                  builder.getI32IntegerAttr(alignment));
}
