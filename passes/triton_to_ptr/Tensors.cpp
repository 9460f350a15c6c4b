// SPDX-License-Identifier: Apache-2.0
//
// Converts tensors of pointers. Accesses become loops over their elements, and
// operations that only move elements move addresses. Leaves other operations,
// such as atomics, untouched.

#include "Pointers.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tptr/Tptr.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;
using triton_ext::ptr::PtrType;

bool triton_to_ptr::isTensorOfPointers(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<tt::PointerType>(tensor.getElementType());
}

/// Builds a loop over all elements of `inputs`, null ones left out.
static Value
loop(OpBuilder &builder, Location loc, ArrayRef<Value> inputs, Value init,
     function_ref<Value(OpBuilder &, Location, ArrayRef<Value>)> body) {
  SmallVector<Value> given(
      llvm::make_filter_range(inputs, [](Value input) { return bool(input); }));
  auto shape = cast<RankedTensorType>(given.front().getType());
  SmallVector<AffineMap> maps(given.size() + bool(init),
                              builder.getMultiDimIdentityMap(shape.getRank()));
  SmallVector<utils::IteratorType> iterators(shape.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, init ? TypeRange(init.getType()) : TypeRange(), given,
      init ? ValueRange(init) : ValueRange(), maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value> elements;
        for (Value input : inputs)
          elements.push_back(input ? arguments.front() : Value());
        unsigned at = 0;
        for (Value &element : elements)
          if (element)
            element = arguments[at++];
        Value result = body(builder, loc, elements);
        linalg::YieldOp::create(builder, loc,
                                result ? ValueRange(result) : ValueRange());
      });
  return init ? generic.getResult(0) : Value();
}

Value triton_to_ptr::loadAll(OpBuilder &builder, Location loc,
                             RankedTensorType type, const Access &access,
                             Value pointers, Value mask, Value other) {
  Value init = tensor::EmptyOp::create(
      builder, loc, type.getShape(), type.getElementType(), type.getEncoding());
  return loop(builder, loc, {pointers, mask, other}, init,
              [&](OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
                return access.load(builder, loc, elements[0], elements[1],
                                   elements[2]);
              });
}

void triton_to_ptr::storeAll(OpBuilder &builder, Location loc, Value pointers,
                             Value values, Value mask) {
  loop(builder, loc, {pointers, values, mask}, Value(),
       [&](OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
         Access::store(builder, loc, elements[0], elements[1], elements[2]);
         return Value();
       });
}

static bool isOfPtr(Type type) {
  return isa<PtrType>(getElementTypeOrSelf(type));
}

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

static Value toAddresses(OpBuilder &builder, Location loc, Value pointers) {
  return tptr::PtrToIntOp::create(
      builder, loc, withElement(pointers.getType(), builder.getI64Type()),
      pointers);
}

namespace {
/// Moves addresses in the places of pointers.
template <typename OpTy> struct MovePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Type> results;
    if (failed(this->getTypeConverter()->convertTypes(op->getResultTypes(),
                                                      results)))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : adaptor.getOperands())
      operands.push_back(isOfPtr(operand.getType())
                             ? toAddresses(rewriter, loc, operand)
                             : operand);
    auto types = llvm::map_to_vector(results, [&](Type type) {
      return isOfPtr(type) ? withElement(type, rewriter.getI64Type()) : type;
    });
    OperationState state(loc, op->getName(), operands, types, op->getAttrs());
    Operation *moved = rewriter.create(state);
    SmallVector<Value> values;
    for (auto [value, type] : llvm::zip(moved->getResults(), results))
      values.push_back(
          value.getType() == type
              ? Value(value)
              : tptr::IntToPtrOp::create(rewriter, loc, type, value));
    rewriter.replaceOp(op, values);
    return success();
  }
};
} // namespace

template <typename... OpTys>
static void addMoves(TypeConverter &converter, RewritePatternSet &patterns,
                     ConversionTarget &target) {
  patterns.add<MovePattern<OpTys>...>(converter, patterns.getContext());
  target.addDynamicallyLegalOp<OpTys...>([](Operation *op) {
    return llvm::none_of(op->getOperandTypes(),
                         triton_to_ptr::isTensorOfPointers) &&
           llvm::none_of(op->getResultTypes(),
                         triton_to_ptr::isTensorOfPointers);
  });
}

void triton_to_ptr::addTensors(TypeConverter &converter,
                               RewritePatternSet &patterns,
                               ConversionTarget &target) {
  converter.addConversion(
      [&converter](RankedTensorType type) -> std::optional<Type> {
        if (!isTensorOfPointers(type))
          return std::nullopt;
        return type.clone(converter.convertType(type.getElementType()));
      });
  // Later materializations are tried first. Triton's operations cast its own
  // tensors to addresses and back.
  auto i64s = [](OpBuilder &builder, Type type) {
    return withElement(type, builder.getI64Type());
  };
  converter.addTargetMaterialization([=](OpBuilder &builder, Type type,
                                         ValueRange values,
                                         Location loc) -> Value {
    if (!isa<RankedTensorType>(type) || values.size() != 1 ||
        !isTensorOfPointers(values[0].getType()))
      return {};
    Value addresses =
        tt::PtrToIntOp::create(builder, loc, i64s(builder, type), values[0]);
    return tptr::IntToPtrOp::create(builder, loc, type, addresses);
  });
  converter.addSourceMaterialization([=](OpBuilder &builder, Type type,
                                         ValueRange values,
                                         Location loc) -> Value {
    if (!isTensorOfPointers(type) || values.size() != 1)
      return {};
    return tt::IntToPtrOp::create(builder, loc, type,
                                  toAddresses(builder, loc, values[0]));
  });
  addMoves<tt::BroadcastOp, tt::CatOp, tt::ExpandDimsOp, tt::GatherOp,
           tt::JoinOp, tt::ReshapeOp, tt::SplatOp, tt::SplitOp, tt::TransOp,
           tt::UnsplatOp>(converter, patterns, target);
}
