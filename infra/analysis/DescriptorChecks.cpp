// SPDX-License-Identifier: Apache-2.0
//
// One check for each kind of operation with tensor descriptors.

#include "analysis/DescriptorChecks.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace tt = mlir::triton;

/// Returns whether scalars can describe it.
static bool hasScalars(tt::TensorDescType type) {
  RankedTensorType block = type.getBlockType();
  return block.getRank() != 0 && block.getElementType().isIntOrFloat();
}

static LogicalResult checkTypes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (auto descriptor = dyn_cast<tt::TensorDescType>(type))
      if (!hasScalars(descriptor))
        return op->emitError() << "expected a descriptor of a block of numbers "
                                  "with at least one dimension, got "
                               << descriptor;
  return success();
}

static LogicalResult checkIndices(Operation *op, Value descriptor,
                                  OperandRange indices) {
  auto type = dyn_cast<tt::TensorDescType>(descriptor.getType());
  if (!type || indices.size() == type.getShape().size())
    return success();
  return op->emitError() << "expected " << type.getShape().size()
                         << " indices for a block of " << type << ", got "
                         << indices.size();
}

static LogicalResult checkNew(tt::MakeTensorDescOp op) {
  auto type = cast<tt::TensorDescType>(op.getType());
  size_t rank = type.getShape().size();
  if (op.getShape().size() != rank || op.getStrides().size() != rank)
    return op.emitError() << "expected " << rank
                          << " sizes and strides for a block of " << type
                          << ", got " << op.getShape().size();
  Type element = type.getSignlessBlockType().getElementType();
  Type found = tt::getPointeeType(op.getBase().getType());
  if (element != found)
    return op.emitError() << "expected a pointer to " << element
                          << ", as the block has, got one to " << found;
  return success();
}

/// Triton's pass would emit two errors for each.
static LogicalResult checkReduction(tt::DescriptorReduceOp op) {
  using Kind = tt::DescriptorReduceKind;
  Type element = op.getDesc().getType().getElementType();
  bool hasSign = isa<IntegerType>(element) && !element.isSignlessInteger();
  bool isOrder = op.getKind() == Kind::MIN || op.getKind() == Kind::MAX;
  bool counts = op.getKind() == Kind::INC || op.getKind() == Kind::DEC;
  if (!counts && (!isOrder || hasSign))
    return success();
  return op.emitError() << "'" << op->getName()
                        << "' cannot be converted to linalg: no atomic is '"
                        << tt::stringifyDescriptorReduceKind(op.getKind())
                        << "' of " << element;
}

static LogicalResult checkFunction(FunctionOpInterface op) {
  TypeRange types = op.getArgumentTypes();
  if (op.isExternal() && llvm::any_of(types, llvm::IsaPred<tt::TensorDescType>))
    return op.emitError("a function without a body cannot take a descriptor");
  return checkTypes(op, types);
}

static LogicalResult check(Operation *op) {
  if (failed(checkTypes(op, op->getResultTypes())))
    return failure();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    if (failed(checkFunction(function)))
      return failure();
  for (Region &region : op->getRegions())
    for (mlir::Block &block : region)
      if (!isa<FunctionOpInterface>(op) &&
          failed(checkTypes(op, block.getArgumentTypes())))
        return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tt::DescriptorLoadOp, tt::DescriptorStoreOp>([&](auto access) {
        return checkIndices(op, access.getDesc(), access.getIndices());
      })
      .Case([&](tt::DescriptorReduceOp reduce) {
        if (failed(checkReduction(reduce)))
          return failure();
        return checkIndices(op, reduce.getDesc(), reduce.getIndices());
      })
      .Case([](tt::MakeTensorDescOp make) { return checkNew(make); })
      .Default([](Operation *) { return success(); });
}

LogicalResult mlir::triton_ext::analysis::checkDescriptors(ModuleOp module) {
  bool known = true;
  module.walk([&](Operation *op) { known &= succeeded(check(op)); });
  return success(known);
}
