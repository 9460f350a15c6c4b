// SPDX-License-Identifier: Apache-2.0
//
// Collects the facts about the pointers of accesses, creates views of memory,
// and reshapes tensors to the windows that gathers and scatters take.

#include "Access.h"
#include "Builders.h"

#include "analysis/AxisInfo.h"
#include "analysis/AxisTransfer.h"
#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

AllPointerFacts convert_triton_to_linalg::getPointerFacts(Operation *module) {
  AllPointerFacts facts;
  analysis::AxisInfos infos(module);
  module->walk([&](Operation *op) {
    if (!isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp,
             tt::AtomicLoadOp, tt::AtomicStoreOp>(op))
      return;
    Value pointers = op->getOperand(0);
    analysis::AxisInfo info = infos.get(pointers);
    int64_t bytes = analysis::bytesOfPointee(pointers.getType());
    facts[pointers] = {
        infos.getPointerStrides(pointers),
        bytes > 0 && (bytes == 1 || (info.isKnown() &&
                                     info.divisibilityOfAll() % bytes == 0))};
  });
  return facts;
}

/// The names are those of triton-linalg: `cmnormal` for data that is used
/// again, `cmtransient` for data that passes through.
StringAttr Access::cacheModeOf(tt::CachePolicyAttr policy) {
  switch (policy.getCacheModifier()) {
  case tt::CacheModifier::CA:
  case tt::CacheModifier::CG:
    return builder.getStringAttr("cmnormal");
  case tt::CacheModifier::WB:
  case tt::CacheModifier::CS:
  case tt::CacheModifier::WT:
    return builder.getStringAttr("cmtransient");
  default:
    break;
  }
  switch (policy.getEvictionPolicy()) {
  case tt::EvictionPolicy::EVICT_FIRST:
    return builder.getStringAttr("cmtransient");
  case tt::EvictionPolicy::EVICT_LAST:
    return builder.getStringAttr("cmnormal");
  default:
    return {};
  }
}

Value Access::view(Value address, OpFoldResult offset,
                   ArrayRef<OpFoldResult> sizes,
                   ArrayRef<OpFoldResult> strides) {
  // The verifier rejects a static offset that is negative.
  if (getConstantIntValue(offset).value_or(0) < 0)
    offset = math.toValue(offset);
  MemRefType type = aux::viewTypeOf(element, offset, sizes, strides);
  auto view =
      aux::ViewOp::create(builder, loc, type, address, offset, sizes, strides);
  view.setCacheModeAttr(cacheMode);
  return view;
}

Value Access::viewOf(const Pointers &pointers, const Box &box,
                     SmallVector<OpFoldResult> &sizes) {
  OpFoldResult offset = pointers.offsets.offset;
  for (auto [low, high, stride] :
       llvm::zip(box.low, box.high, pointers.offsets.strides)) {
    sizes.push_back(math.sub(high, low));
    offset = math.add(offset, math.mul(low, stride));
  }
  // Along a dimension of one element any stride is right; use 1 instead of 0.
  SmallVector<OpFoldResult> strides(pointers.offsets.strides);
  for (auto [size, stride] : llvm::zip(shape, strides))
    if (size == 1 && isConstantIntValue(stride, 0))
      stride = math.number(1);
  return view(address(pointers.base), offset, sizes, strides);
}

Value Access::readTensor(Value view) {
  auto type = cast<MemRefType>(view.getType());
  return bufferization::ToTensorOp::create(
      builder, loc, tensorOf(type.getShape(), type.getElementType()), view,
      /*restrict=*/true, /*writable=*/true);
}

Value Access::slice(Value tensor, const Box &box,
                    ArrayRef<OpFoldResult> sizes) {
  return tensor::ExtractSliceOp::create(
      builder, loc, tensor, box.low, sizes,
      SmallVector<OpFoldResult>(sizes.size(), builder.getIndexAttr(1)));
}

Value Access::pad(Value part, const Box &box, Value value) {
  Value whole = tensor::EmptyOp::create(builder, loc, shape, element);
  SmallVector<OpFoldResult> rest;
  for (auto [size, high] : llvm::zip(shape, box.high))
    rest.push_back(math.sub(math.number(size), high));
  return linalg_ext::PadOp::create(builder, loc, part, whole, value, box.low,
                                   rest)
      .getResult();
}

Pointers Access::fromFirst(Value pointers, ArrayRef<int64_t> strides) {
  Value zero = math.toValue(math.number(0));
  Pointers result;
  result.base = tensor::ExtractOp::create(
      builder, loc, pointers, SmallVector<Value>(shape.size(), zero));
  result.offsets.offset = math.number(0);
  for (int64_t stride : strides)
    result.offsets.strides.push_back(math.number(stride));
  return result;
}

Value Access::toLine(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1)
    return tensor;
  return tensor::CollapseShapeOp::create(
      builder, loc, tensorOf(type.getNumElements(), type.getElementType()),
      tensor, allInOne(type.getRank()));
}

Value Access::toWindows(Value tensor) {
  Value line = toLine(tensor);
  auto type = cast<RankedTensorType>(line.getType());
  return tensor::ExpandShapeOp::create(
      builder, loc, tensorOf({type.getDimSize(0), 1}, type.getElementType()),
      line, allInOne(2));
}

Value Access::fromWindows(Value windows) {
  auto type = cast<RankedTensorType>(windows.getType());
  Value line = tensor::CollapseShapeOp::create(
      builder, loc, tensorOf(type.getDimSize(0), type.getElementType()),
      windows, allInOne(2));
  if (shape.size() == 1)
    return line;
  return tensor::ExpandShapeOp::create(builder, loc,
                                       tensorOf(shape, type.getElementType()),
                                       line, allInOne(shape.size()));
}

std::optional<std::pair<Value, Value>>
Access::memoryAndIndices(Value pointers) {
  math.budget = IndexMath{builder, loc}.budget;
  Type i64 = builder.getI64Type();
  Value base, indices;
  if (auto sum = trackPointerSum(pointers, math)) {
    base = address(sum->base);
    for (Value addend : sum->addends) {
      Type type = withElement(addend.getType(), i64);
      if (addend.getType() != type)
        addend = arith::ExtSIOp::create(builder, loc, type, addend);
      indices =
          indices
              ? arith::AddIOp::create(builder, loc, indices, addend).getResult()
              : addend;
    }
    if (!indices)
      indices = arith::ConstantOp::create(
          builder, loc, builder.getZeroAttr(tensorOf(shape, i64)));
  } else if (!pointerFacts.areAligned) {
    return std::nullopt;
  } else {
    // The base of the pointers is not known. Use a view from address 0, with
    // the addresses, divided by the size of an element, as indices.
    base = LLVM::ZeroOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
    indices =
        tt::PtrToIntOp::create(builder, loc, tensorOf(shape, i64), pointers);
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    Value size = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(tensorOf(shape, i64),
                               builder.getI64IntegerAttr(bytes).getValue()));
    indices = arith::DivUIOp::create(builder, loc, indices, size);
  }
  return memoryAndIndices(base, indices);
}

std::pair<Value, Value> Access::memoryAndIndices(Value base, Value indices) {
  Value memory =
      view(base, math.number(0),
           math.number(std::numeric_limits<int64_t>::max()), math.number(1));
  return {memory, toWindows(indices)};
}
