// SPDX-License-Identifier: Apache-2.0
//
// Chooses between the forms of carried tensors, finds their numbers, and makes
// tensors of them.

#include "Forms.h"
#include "GatheredNumbers.h"
#include "StridedNumbers.h"
#include "Sums.h"
#include "WrappedNumbers.h"

#include "analysis/LineTracker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::carry_strides;
namespace tt = mlir::triton;

/// Returns the type of the offsets of a moved tensor.
static RankedTensorType offsetsType(const Form &form) {
  Type i64 = IntegerType::get(form.type.getContext(), 64);
  if (form.along)
    return RankedTensorType::get(form.type.getDimSize(*form.along), i64);
  return RankedTensorType::get(form.type.getShape(), i64);
}

/// Returns the addends of a sum behind the rest; nullopt if it has another
/// rest.
static std::optional<ArrayRef<Value>> behindRest(const Sum &sum,
                                                 const Form &form) {
  size_t count = form.rest.size();
  if (sum.rest.size() < count ||
      !isSameRest(ArrayRef(sum.rest).take_front(count), form.rest))
    return std::nullopt;
  return ArrayRef(sum.rest).drop_front(count);
}

/// Returns the offsets of a moved tensor, which are the sum of `addends`, or
/// zeros if there are none; null if they depend on the index along another
/// dimension than they should.
static Value findOffsets(ArrayRef<Value> addends, const Form &form,
                         IndexMath &math) {
  OpBuilder &b = math.builder;
  RankedTensorType type = offsetsType(form);
  Value sum;
  for (Value tensor : addends) {
    if (form.along) {
      auto line = trackLine(tensor, math);
      if (!line || line->dim != form.along)
        return {};
      tensor = line->value;
    }
    if (tensor.getType() != type)
      tensor = arith::ExtSIOp::create(b, math.loc, type, tensor);
    sum = sum ? arith::AddIOp::create(b, math.loc, sum, tensor) : tensor;
  }
  if (sum)
    return sum;
  return arith::ConstantOp::create(b, math.loc, b.getZeroAttr(type));
}

SmallVector<Type>
mlir::triton_ext::carry_strides::numberTypes(const Form &form) {
  if (form.kind == Form::Strided)
    return numberTypes(form.type);
  if (form.kind == Form::Wrapped)
    return wrappedTypes(form.type, form.wraps);
  if (form.kind == Form::Gathered)
    return gatheredTypes(form.type, *form.gathers);
  SmallVector<Type> types{form.type.getElementType()};
  if (form.kind == Form::Moved)
    types.push_back(offsetsType(form));
  return types;
}

bool mlir::triton_ext::carry_strides::findRest(Value tensor, Form &form,
                                               Region *region, OpBuilder &b) {
  if (form.kind != Form::Shifted && form.kind != Form::Moved)
    return true;
  IndexMath math = mathAt(b, tensor.getLoc());
  auto sum = trackSum(tensor, math);
  if (!sum)
    return false;
  auto isInside = [&](Value value) {
    return region->isAncestor(value.getParentRegion());
  };
  form.rest.assign(sum->rest.begin(), llvm::find_if(sum->rest, isInside));
  if (form.kind == Form::Moved)
    return true;
  // A splat of a pointer has no rest, but may get offsets.
  return form.rest.size() == sum->rest.size() &&
         (!form.rest.empty() || isPointer(form.type));
}

void mlir::triton_ext::carry_strides::noteGathers(Form &form, Value tensor,
                                                  OpBuilder &b) {
  if (!form.gathers && isPointer(form.type))
    form.gathers = findGathers(tensor, b);
}

bool mlir::triton_ext::carry_strides::toNextForm(Form &form, Value tensor,
                                                 OpBuilder &b) {
  noteGathers(form, tensor, b);
  if (form.kind == Form::Strided) {
    form.kind = Form::Shifted;
    return true;
  }
  if (!isPointer(form.type))
    return false;
  // The last form: a moved tensor whose offsets depend on all indices.
  auto moveAll = [&] {
    form.kind = Form::Moved;
    form.along.reset();
    return form.canMove;
  };
  auto gather = [&] {
    if (!form.gathers)
      return moveAll();
    form.kind = Form::Gathered;
    return true;
  };
  if (form.kind == Form::Gathered)
    return moveAll();
  if (form.kind == Form::Moved)
    return form.along && gather();
  if (form.kind == Form::Shifted) {
    IndexMath math = mathAt(b, tensor.getLoc());
    auto sum = trackSum(tensor, math);
    auto added = sum ? behindRest(*sum, form) : std::nullopt;
    if (added && added->empty())
      return false;
    form.canMove = added.has_value();
    if (auto line = added ? trackLine(added->back(), math) : std::nullopt)
      form.along = line->dim;
  }
  if (addWraps(tensor, form.wraps, b)) {
    form.kind = Form::Wrapped;
    return true;
  }
  if (!form.canMove || !form.along)
    return gather();
  form.kind = Form::Moved;
  return true;
}

std::optional<SmallVector<Value>>
mlir::triton_ext::carry_strides::findNumbers(Value tensor, const Form &form,
                                             OpBuilder &b) {
  if (form.kind == Form::Strided)
    return trackNumbers(tensor, b);
  if (form.kind == Form::Wrapped)
    return trackWrapped(tensor, form.wraps, b);
  if (form.kind == Form::Gathered)
    return trackGathered(tensor, *form.gathers, b);
  IndexMath math = mathAt(b, tensor.getLoc());
  auto sum = trackSum(tensor, math);
  auto added = sum ? behindRest(*sum, form) : std::nullopt;
  if (!added || (form.kind == Form::Shifted && !added->empty()))
    return std::nullopt;
  Type type = form.type.getElementType();
  if (!sum->scalar)
    sum->scalar =
        arith::ConstantOp::create(b, tensor.getLoc(), b.getZeroAttr(type));
  SmallVector<Value> numbers{sum->scalar};
  if (form.kind == Form::Moved) {
    numbers.push_back(findOffsets(*added, form, math));
    if (!numbers.back())
      return std::nullopt;
  }
  return numbers;
}

Value mlir::triton_ext::carry_strides::rebuild(const Form &form,
                                               ValueRange numbers, OpBuilder &b,
                                               Location loc) {
  if (form.kind == Form::Strided)
    return rebuild(form.type, numbers, b, loc);
  if (form.kind == Form::Wrapped)
    return rebuildWrapped(form.type, form.wraps, numbers, b, loc);
  if (form.kind == Form::Gathered)
    return rebuildGathered(form.type, *form.gathers, numbers, b, loc);
  Value sum = tt::SplatOp::create(b, loc, form.type, numbers.front());
  SmallVector<Value> addends(form.rest);
  if (form.kind == Form::Moved) {
    ArrayRef<int64_t> shape = form.type.getShape();
    Value offsets = numbers.back();
    addends.push_back(form.along ? widen(offsets, shape, *form.along, b, loc)
                                 : offsets);
  }
  for (Value tensor : addends) {
    if (isPointer(form.type))
      sum = tt::AddPtrOp::create(b, loc, form.type, sum, tensor);
    else
      sum = arith::AddIOp::create(b, loc, sum, tensor);
  }
  return sum;
}
