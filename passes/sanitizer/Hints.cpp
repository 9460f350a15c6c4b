// SPDX-License-Identifier: Apache-2.0
//
// What a kernel promises to the compiler: tl.multiple_of, tl.max_contiguous and
// tl.max_constancy, which are marks on operations, and tl.assume. What is
// promised of arguments the host checks: marks, and the divisibility for which
// a launch has specialised the kernel.

#include "Hints.h"
#include "Bits.h"
#include "Effect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

static SmallVector<int64_t> numbersOf(Attribute attribute) {
  if (auto one = dyn_cast_or_null<IntegerAttr>(attribute))
    return {one.getInt()};
  SmallVector<int64_t> found;
  if (auto many = dyn_cast_or_null<DenseIntElementsAttr>(attribute))
    for (const llvm::APInt &number : many.getValues<llvm::APInt>())
      found.push_back(number.getSExtValue());
  return found;
}

//===----------------------------------------------------------------------===//
// Assumptions and arguments
//===----------------------------------------------------------------------===//

/// Replaces an assumption by its check. The assumption cannot stay: the
/// compiler would take the check to succeed.
static void checkAssumption(Checker &checker, LLVM::AssumeOp assume) {
  Value condition = assume.getCond();
  llvm::APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant)) &&
      constant.getBoolValue())
    return checker.say(assume, "hints", Verdict::Proved, "assume holds");
  checker.say(assume, "hints", Verdict::Checked, "assume");
  ImplicitLocOpBuilder b = checker.before(assume);
  reportWhere(
      checker, b, notOf(b, condition), "hints", assume, [&](Finding &finding) {
        finding.note["hint"] = "assume";
        if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
          for (auto [name, value] : {std::pair("lhs", compare.getLhs()),
                                     std::pair("rhs", compare.getRhs())})
            finding.values.push_back(
                {nameOf(value, name), value,
                 checker.signs.isUnsigned(value, compare)});
      });
  assume.erase();
}

/// Returns what the host checks: that an argument is a multiple.
static llvm::json::Object divisorOf(unsigned argument, int64_t divisor,
                                    StringRef hint, Location where) {
  auto at = positionOf(where);
  return llvm::json::Object{{"argument", int64_t(argument)},
                            {"divisor", divisor},
                            {"hint", hint},
                            {"file", at ? at.getFilename().str() : ""},
                            {"line", at ? int64_t(at.getLine()) : 0},
                            {"column", at ? int64_t(at.getColumn()) : 0}};
}

static SmallVector<probe::PromiseOp> promisesIn(tt::FuncOp kernel) {
  SmallVector<probe::PromiseOp> found;
  kernel.walk([&](probe::PromiseOp op) { found.push_back(op); });
  return found;
}

/// Returns the argument of the kernel that a promise is about, if every program
/// makes the promise.
static BlockArgument argumentOf(probe::PromiseOp promise, tt::FuncOp kernel) {
  auto argument = dyn_cast<BlockArgument>(promise.getValue());
  Block &entry = kernel.getBody().front();
  bool isAlways = promise->getBlock() == &entry;
  return isAlways && argument && argument.getOwner() == &entry ? argument
                                                               : nullptr;
}

std::optional<llvm::json::Object> sanitizer::promisesOf(Checker &checker) {
  tt::FuncOp kernel = checker.kernel;
  llvm::json::Array names, promised;
  for (BlockArgument argument : kernel.getArguments()) {
    names.push_back(nameOf(argument, ""));
    unsigned number = argument.getArgNumber();
    auto mark = numbersOf(kernel.getArgAttr(number, divisibilityName));
    if (checker.wants("hints") && mark.size() == 1 && mark[0] > 1)
      promised.push_back(
          divisorOf(number, mark[0], "divisibility", kernel.getLoc()));
  }
  for (probe::PromiseOp op : promisesIn(kernel)) {
    BlockArgument argument = argumentOf(op, kernel);
    if (checker.wants("hints") && !argument)
      continue; // checkHints checks it
    if (checker.wants("hints") && op.getNumbers()[0] > 1 &&
        op.getMark() == divisibilityName) {
      checker.say(op, "hints", Verdict::Checked, "multiple_of");
      promised.push_back(divisorOf(argument.getArgNumber(), op.getNumbers()[0],
                                   "multiple_of", op.getLoc()));
    }
    op.erase();
  }
  if (promised.empty())
    return {};
  return llvm::json::Object{{"kernel", kernel.getName()},
                            {"arguments", std::move(names)},
                            {"divisors", std::move(promised)}};
}

/// Adds the marks of an operation's result, if it has any. Those of a loop's
/// arguments are attributes of the loop with the number of the argument, which
/// later passes may have changed, so nothing is said of them.
static void addMarks(SmallVectorImpl<Marks> &all, Operation *op) {
  Marks marks{op,
              op->getResult(0),
              numbersOf(op->getAttr(divisibilityName)),
              numbersOf(op->getAttr(contiguityName)),
              numbersOf(op->getAttr(constancyName)),
              {},
              {}};
  if (!marks.divisibility.empty() || !marks.contiguity.empty() ||
      !marks.constancy.empty())
    all.push_back(std::move(marks));
}

/// Adds what a promise says. The function of a tl.map_elementwise cannot
/// contain a check, so a promise in it is left out.
static void addPromise(SmallVectorImpl<Marks> &all, probe::PromiseOp op) {
  if (op->getParentOfType<tt::MapElementwiseOp>())
    return;
  auto numbers = [&](StringRef mark) {
    return op.getMark() == mark ? SmallVector<int64_t>(op.getNumbers())
                                : SmallVector<int64_t>();
  };
  all.push_back({op,
                 op.getValue(),
                 numbers(divisibilityName),
                 numbers(contiguityName),
                 numbers(constancyName),
                 {},
                 {}});
}

/// Adds what is known without the marks, which the analysis would believe.
static void addFacts(Checker &checker, MutableArrayRef<Marks> all) {
  if (all.empty())
    return;
  SmallVector<std::tuple<Operation *, StringRef, Attribute>> removed;
  for (Marks &marks : all)
    for (StringRef name : markNames)
      if (Attribute attribute = marks.op->removeAttr(name))
        removed.push_back({marks.op, name, attribute});
  analysis::AxisInfos never(checker.kernel),
      always(checker.kernel, analysis::Overflow::Wraps);
  for (Marks &marks : all) {
    marks.facts = never.get(marks.value);
    marks.certain = always.get(marks.value);
  }
  for (auto &[op, name, attribute] : removed)
    op->setAttr(name, attribute);
}

void sanitizer::checkHints(Checker &checker) {
  if (!checker.wants("hints"))
    return;
  SmallVector<Marks, 0> all;
  SmallVector<LLVM::AssumeOp> assumptions;
  checker.kernel.walk([&](Operation *op) {
    if (auto assume = dyn_cast<LLVM::AssumeOp>(op))
      assumptions.push_back(assume);
    if (auto promise = dyn_cast<probe::PromiseOp>(op))
      addPromise(all, promise);
    else if (op->getNumResults() == 1)
      addMarks(all, op);
  });
  addFacts(checker, all);
  for (const Marks &marks : all)
    checkMarks(checker, marks);
  for (LLVM::AssumeOp assume : assumptions)
    checkAssumption(checker, assume);
  checker.kernel.walk([](probe::PromiseOp promise) { promise.erase(); });
}
