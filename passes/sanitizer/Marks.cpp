// SPDX-License-Identifier: Apache-2.0
//
// Checks the marks of a value. A number of a tile need not be a multiple if it
// follows its neighbour: a run of contiguous numbers is a multiple of 16 if its
// first number is. Triton reads the mark so, and kernels make it so.

#include "Bits.h"
#include "Effect.h"
#include "Hints.h"

#include "analysis/AxisTransfer.h"
#include "analysis/Dimensions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

namespace {
/// The check of the marks of one value.
class MarkedValue {
public:
  MarkedValue(Checker &checker, const Marks &marks);
  void check();

private:
  int64_t sizeOf(unsigned d) const { return shape.empty() ? 1 : shape[d]; }
  int64_t runOf(unsigned d) const;
  bool isProved(ArrayRef<int64_t> mark, unsigned d, bool isContiguity) const;
  void checkGroups(ArrayRef<int64_t> mark, bool isContiguity);
  void checkDivisibility();
  Value positions(unsigned d, int64_t group);
  Value withoutMarks();
  void say(Verdict verdict, StringRef name);

  Checker &checker;
  const Marks &marks;
  Value value, numbers;
  ArrayRef<int64_t> shape;
  int64_t unit; ///< from one contiguous element to the next
  ImplicitLocOpBuilder b;
};
} // namespace

/// Returns a group's size that divides the dimension.
static int64_t groupOf(int64_t mark, int64_t size) {
  return std::min<int64_t>(mark & -mark, size);
}

MarkedValue::MarkedValue(Checker &checker, const Marks &marks)
    : checker(checker), marks(marks), value(marks.value),
      shape(analysis::shapeOf(value)),
      unit(std::max<int64_t>(1, analysis::bytesOfPointee(value.getType()))),
      b(checker.after(marks.op)) {}

/// Returns how many contiguous elements a run has, as the mark says or as is
/// known without it.
int64_t MarkedValue::runOf(unsigned d) const {
  if (d < marks.contiguity.size() && marks.contiguity[d] > 0)
    return groupOf(marks.contiguity[d], sizeOf(d));
  if (d >= marks.facts.axes.size())
    return 1;
  const analysis::Axis &axis = marks.facts.axes[d];
  return axis.strideValue == unit ? groupOf(axis.stride, sizeOf(d)) : 1;
}

/// Whether the groups of a mark are contiguous, or constant, for sure.
bool MarkedValue::isProved(ArrayRef<int64_t> mark, unsigned d,
                           bool isContiguity) const {
  int64_t group = groupOf(mark[d], sizeOf(d));
  if (group <= 1)
    return true;
  if (d >= marks.certain.axes.size())
    return false;
  const analysis::Axis &axis = marks.certain.axes[d];
  return axis.stride % group == 0 &&
         axis.strideValue == (isContiguity ? unit : 0);
}

void MarkedValue::say(Verdict verdict, StringRef name) {
  checker.say(marks.op, "hints", verdict,
              (name + (verdict == Verdict::Proved ? " holds" : "")).str());
}

/// Returns the position of each element in its group along a dimension, of the
/// type of the numbers.
Value MarkedValue::positions(unsigned d, int64_t group) {
  auto type = RankedTensorType::get({shape[d]}, b.getI32Type());
  Value range = tt::MakeRangeOp::create(b, type, 0, shape[d]);
  if (group < shape[d])
    range = arith::AndIOp::create(b, range, constantOf(b, type, group - 1));
  SmallVector<int64_t> compact(shape.size(), 1);
  compact[d] = shape[d];
  return broadcastTo(b, reshaped(b, range, compact), shape);
}

/// Checks that each element is the first of its group plus its position in the
/// group, or equal to it.
void MarkedValue::checkGroups(ArrayRef<int64_t> mark, bool isContiguity) {
  StringRef name = isContiguity ? "max_contiguous" : "max_constancy";
  for (unsigned d = 0; d < shape.size() && d < mark.size(); ++d) {
    if (isProved(mark, d, isContiguity))
      continue;
    say(Verdict::Checked, name);
    int64_t group = groupOf(mark[d], shape[d]);
    Value at = positions(d, group);
    auto type = cast<RankedTensorType>(numbers.getType());
    Type element = type.getElementType();
    Value isFirst =
        arith::CmpIOp::create(b, P::eq, at, constantOf(b, at.getType(), 0));
    Value first =
        arith::SelectOp::create(b, isFirst, numbers, constantOf(b, type, 0));
    // All but one of each group are 0: the disjunction is the first one.
    SmallVector<int64_t> split(shape.begin(), shape.end());
    split[d] = group;
    split.insert(split.begin() + d, shape[d] / group);
    first = reshaped(b, first, split);
    first = reduce<arith::OrIOp>(b, first, d + 1);
    split[d + 1] = 1;
    if (!isa<RankedTensorType>(first.getType()))
      first =
          tt::SplatOp::create(b, RankedTensorType::get({1}, element), first);
    first = reshaped(b, first, split);
    split[d + 1] = group;
    first = reshaped(b, broadcastTo(b, first, split), shape);
    Value expected = first;
    if (isContiguity) {
      unsigned width = element.getIntOrFloatBitWidth();
      Value distance = at;
      if (width > 32)
        distance = arith::ExtUIOp::create(b, type, at);
      else if (width < 32)
        distance = arith::TruncIOp::create(b, type, at);
      if (unit != 1)
        distance =
            arith::MulIOp::create(b, distance, constantOf(b, type, unit));
      expected = arith::AddIOp::create(b, first, distance);
    }
    Value bad = arith::CmpIOp::create(b, P::ne, numbers, expected);
    reportWhere(checker, b, bad, "hints", marks.op, [&](Finding &finding) {
      finding.note["hint"] = name;
      finding.note["promised"] = mark[d];
      finding.note["dimension"] = int64_t(d);
      bool hasNoSign = checker.signs.isUnsigned(value, /*reader=*/nullptr);
      finding.values.push_back({nameOf(value, "value"), numbers, hasNoSign});
      finding.values.push_back({"expected", expected, hasNoSign});
    });
    return;
  }
  say(Verdict::Proved, name);
}

/// Checks that the first element of each run is a multiple.
void MarkedValue::checkDivisibility() {
  int64_t most = 1;
  bool isKnown = true;
  for (auto [d, divisor] : llvm::enumerate(marks.divisibility)) {
    most = std::max(most, divisor);
    if (divisor <= 1 || d >= marks.certain.axes.size())
      continue;
    const analysis::Axis &axis = marks.certain.axes[d];
    int64_t run = runOf(d);
    bool isFirst =
        run > 1 && axis.strideValue == unit && axis.stride % run == 0;
    int64_t known =
        isFirst ? axis.refined(run).divisibility : axis.divisibilityOfAll();
    isKnown &= known % divisor == 0;
  }
  if (most <= 1 || isKnown)
    return say(Verdict::Proved, "multiple_of");
  say(Verdict::Checked, "multiple_of");
  Type type = numbers.getType();
  Value zero = constantOf(b, type, 0), rest;
  bool hasNoSign = checker.signs.isUnsigned(value, /*reader=*/nullptr);
  if (llvm::isPowerOf2_64(most))
    rest = arith::AndIOp::create(b, numbers, constantOf(b, type, most - 1));
  else if (hasNoSign)
    rest = arith::RemUIOp::create(b, numbers, constantOf(b, type, most));
  else
    rest = arith::RemSIOp::create(b, numbers, constantOf(b, type, most));
  Value bad = arith::CmpIOp::create(b, P::ne, rest, zero);
  for (unsigned d = 0; d < shape.size(); ++d) {
    int64_t run = runOf(d);
    if (run <= 1)
      continue;
    Value at = positions(d, run);
    bad = arith::AndIOp::create(
        b, bad,
        arith::CmpIOp::create(b, P::eq, at, constantOf(b, at.getType(), 0)));
  }
  reportWhere(checker, b, bad, "hints", marks.op, [&](Finding &finding) {
    finding.note["hint"] = "multiple_of";
    finding.note["promised"] = most;
    finding.values.push_back({nameOf(value, "value"), numbers, hasNoSign});
  });
}

/// Returns the value as it is without the marks, which the target's compiler
/// may believe of the value itself.
Value MarkedValue::withoutMarks() {
  if (value.getDefiningOp() != marks.op || !isMemoryEffectFree(marks.op) ||
      marks.op->getNumRegions() != 0)
    return value;
  Operation *copy = b.clone(*marks.op);
  for (StringRef name : markNames)
    copy->removeAttr(name);
  return copy->getResult(0);
}

void MarkedValue::check() {
  Type element = getElementTypeOrSelf(value.getType());
  numbers = withoutMarks();
  if (isa<tt::PointerType>(element)) {
    Type wide = b.getI64Type();
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      wide = tensor.clone(wide);
    numbers = tt::PtrToIntOp::create(b, wide, numbers);
  } else if (!element.isInteger() || element.getIntOrFloatBitWidth() < 8) {
    return;
  }
  if (!marks.contiguity.empty())
    checkGroups(marks.contiguity, /*isContiguity=*/true);
  if (!marks.constancy.empty())
    checkGroups(marks.constancy, /*isContiguity=*/false);
  if (!marks.divisibility.empty())
    checkDivisibility();
}

void sanitizer::checkMarks(Checker &checker, const Marks &marks) {
  MarkedValue(checker, marks).check();
}
