// SPDX-License-Identifier: Apache-2.0
//
// Indexing maps and bodies of structured operations. Operations of linalg have
// a body even where their name says what it does, so that passes of linalg can
// make a linalg.generic of them, or loops.

#include "Structure.h"

#include "Tiling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;

ArrayAttr linalg_ext::getIndexingMaps(Operation *op) {
  TilingPlan plan = getTilingPlan(op);
  MLIRContext *context = op->getContext();
  SmallVector<AffineMap> maps;
  for (ArrayRef<TiledDim> dims : plan.operands) {
    SmallVector<AffineExpr> indices;
    for (TiledDim dim : dims) {
      AffineExpr index = getAffineDimExpr(dim.loop, context);
      if (dim.kind == TiledDim::Window)
        index = index * dim.stride +
                getAffineDimExpr(dim.inner, context) * dim.dilation;
      indices.push_back(index);
    }
    maps.push_back(AffineMap::get(plan.loops.size(), 0, indices, context));
  }
  return Builder(context).getAffineMapArrayAttr(maps);
}

namespace {

/// Builds the operations of a body.
struct BodyBuilder {
  ImplicitLocOpBuilder &b;
  Block::BlockArgListType arguments;
  ArrayRef<NamedAttribute> attributes;

  bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

  /// Returns `F` or `I`, for floats and integers, of the accumulator, which is
  /// the last argument, and the element.
  template <typename F, typename I> Value combine(Value element) {
    Value accumulator = arguments.back();
    if (isFloat(accumulator))
      return F::create(b, accumulator, element);
    return I::create(b, accumulator, element);
  }

  Value extend(Value value, Type type) {
    if (value.getType() == type)
      return value;
    if (isa<FloatType>(type))
      return arith::ExtFOp::create(b, type, value);
    return arith::ExtSIOp::create(b, type, value);
  }

  Value multiplyAndAdd() {
    Type type = arguments.back().getType();
    Value lhs = extend(arguments[0], type), rhs = extend(arguments[1], type);
    Value product = isFloat(lhs)
                        ? arith::MulFOp::create(b, lhs, rhs)->getResult(0)
                        : arith::MulIOp::create(b, lhs, rhs)->getResult(0);
    return combine<arith::AddFOp, arith::AddIOp>(product);
  }

  Value countFromStart() {
    Value start = arguments[0], index = linalg::IndexOp::create(b, 0);
    Value step = arith::IndexCastOp::create(b, start.getType(), index);
    return arith::AddIOp::create(b, start, step);
  }

  Value isBelowDiagonal() {
    Type element = arguments.back().getType();
    Value one = arith::ConstantOp::create(b, b.getOneAttr(element));
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
    Value last =
        arith::AddIOp::create(b, linalg::IndexOp::create(b, 0), arguments[0]);
    Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                          linalg::IndexOp::create(b, 1), last);
    return arith::SelectOp::create(b, isBelow, one, zero);
  }

  Value compare(arith::CmpFPredicate floats, arith::CmpIPredicate integers,
                Value lhs, Value rhs) {
    if (isFloat(lhs))
      return arith::CmpFOp::create(b, floats, lhs, rhs);
    return arith::CmpIOp::create(b, integers, lhs, rhs);
  }

  /// Returns the pair of the larger value, or the smaller one, and its index.
  SmallVector<Value> chooseArg(arith::CmpFPredicate floats,
                               arith::CmpIPredicate integers) {
    Value x = arguments[0], j = arguments[1], v = arguments[2],
          i = arguments[3];
    Value stays = compare(floats, integers, v, x);
    NamedAttrList named(attributes);
    if (auto tie = dyn_cast_or_null<BoolAttr>(named.get("tie_break_left"));
        tie && tie.getValue()) {
      Value isEqual =
          compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, v, x);
      Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, j);
      stays = arith::OrIOp::create(b, stays,
                                   arith::AndIOp::create(b, isEqual, isLeft));
    }
    return {arith::SelectOp::create(b, stays, v, x),
            arith::SelectOp::create(b, stays, i, j)};
  }
};

} // namespace

/// Returns what the body of the operation of this name yields.
static SmallVector<Value> buildBody(StringRef name, BodyBuilder body) {
  using namespace arith;
  auto isNumber = [](Value value) {
    return value.getType().isIntOrIndexOrFloat();
  };
  bool isArg = name == "argmax" || name == "argmin";
  // The verifier refuses these operands, after the parser has built a body.
  if (!llvm::all_of(body.arguments, isNumber) ||
      (isArg && body.arguments.size() != 4))
    return {body.arguments.back()};
  Value first = body.arguments[0];
  if (name == "batch_conv_2d_nhwc_fhwc")
    return {body.multiplyAndAdd()};
  if (name == "im2col")
    return {first};
  if (name == "make_range")
    return {body.countFromStart()};
  if (name == "tri")
    return {body.isBelowDiagonal()};
  if (name == "argmax")
    return body.chooseArg(CmpFPredicate::OGT, CmpIPredicate::sgt);
  if (name == "argmin")
    return body.chooseArg(CmpFPredicate::OLT, CmpIPredicate::slt);
  if (name == "reduce_sum")
    return {body.combine<AddFOp, AddIOp>(first)};
  if (name == "reduce_max")
    return {body.combine<MaxNumFOp, MaxSIOp>(first)};
  if (name == "reduce_min")
    return {body.combine<MinNumFOp, MinSIOp>(first)};
  if (name == "reduce_max_nan" || name == "pooling_nhwc_max_nan")
    return {body.combine<MaximumFOp, MaxSIOp>(first)};
  assert((name == "reduce_min_nan" || name == "pooling_nhwc_min_nan") &&
         "every structured operation has a body");
  return {body.combine<MinimumFOp, MinSIOp>(first)};
}

std::function<void(ImplicitLocOpBuilder &, Block &, ArrayRef<NamedAttribute>,
                   llvm::function_ref<InFlightDiagnostic()>)>
linalg_ext::getBodyBuilder(StringRef name) {
  name.consume_front("linalg_ext.");
  return [name](ImplicitLocOpBuilder &builder, Block &block,
                ArrayRef<NamedAttribute> attributes,
                llvm::function_ref<InFlightDiagnostic()>) {
    SmallVector<Value> yielded =
        buildBody(name, {builder, block.getArguments(), attributes});
    linalg::YieldOp::create(builder, yielded);
  };
}

void linalg_ext::fillBody(OpBuilder &builder, Location loc, StringRef name,
                          Region &region, TypeRange operands,
                          ArrayRef<NamedAttribute> attributes) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> elements;
  for (Type type : operands)
    elements.push_back(getElementTypeOrSelf(type));
  SmallVector<Location> locations(elements.size(), loc);
  Block *block = builder.createBlock(&region, {}, elements, locations);
  ImplicitLocOpBuilder inside(loc, builder);
  getBodyBuilder(name)(inside, *block, attributes, /*emitError=*/{});
}

void linalg_ext::buildStructured(OpBuilder &builder, OperationState &state,
                                 TypeRange results, ValueRange operands,
                                 ArrayRef<NamedAttribute> attributes) {
  state.addTypes(results);
  state.addOperands(operands);
  state.addAttributes(attributes);
  fillBody(builder, state.location, state.name.getStringRef(),
           *state.addRegion(), operands.getTypes(), attributes);
}
