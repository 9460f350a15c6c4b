// SPDX-License-Identifier: Apache-2.0
//
// Parsers and printers of reductions and operations on windows. Those of
// assertions are in SyntaxAssert.cpp, of atomics in SyntaxAtomics.cpp, of scans
// in SyntaxScan.cpp.

#include "Syntax.h"

#include "Clauses.h"
#include "Structure.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

//===----------------------------------------------------------------------===//
// reduce_sum, reduce_max, reduce_min, reduce_max_nan, reduce_min_nan
//===----------------------------------------------------------------------===//

/// Returns the operations that a body of this reduction may consist of.
static ArrayRef<StringRef> getCombiners(StringRef reduction) {
  static constexpr StringRef sum[] = {"arith.addf", "arith.addi"};
  static constexpr StringRef maximum[] = {"arith.maxnumf", "arith.maxsi"};
  static constexpr StringRef minimum[] = {"arith.minnumf", "arith.minsi"};
  static constexpr StringRef maximumNan[] = {"arith.maximumf"};
  static constexpr StringRef minimumNan[] = {"arith.minimumf"};
  return llvm::StringSwitch<ArrayRef<StringRef>>(reduction)
      .Case("linalg_ext.reduce_sum", sum)
      .Case("linalg_ext.reduce_max", maximum)
      .Case("linalg_ext.reduce_min", minimum)
      .Case("linalg_ext.reduce_max_nan", maximumNan)
      .Case("linalg_ext.reduce_min_nan", minimumNan);
}

/// Returns whether the body is one of these operations, applied to its two
/// arguments.
static bool isOneOf(Region &body, ArrayRef<StringRef> names) {
  if (!body.hasOneBlock() || body.getNumArguments() != 2)
    return false;
  Block &block = body.front();
  if (block.getOperations().size() != 2 || !isa<YieldOp>(block.back()))
    return false;
  Operation &combiner = block.front();
  Value x = block.getArgument(0), y = block.getArgument(1);
  auto operands = combiner.getOperands();
  return llvm::is_contained(names, combiner.getName().getStringRef()) &&
         llvm::equal(block.back().getOperands(), combiner.getResults()) &&
         (llvm::equal(operands, ValueRange{x, y}) ||
          llvm::equal(operands, ValueRange{y, x}));
}

/// Adds the body that the text does not show.
static ParseResult addBody(Clauses &clauses) {
  OpBuilder builder(clauses.parser.getContext());
  OperationState &state = clauses.result;
  fillBody(builder, state.location, state.name.getStringRef(),
           *state.addRegion(), ValueRange(state.operands).getTypes(),
           state.attributes);
  return success();
}

/// Parses a named reduction. A body in the text repeats what the name says, so
/// it is checked and dropped. Fast-math flags in it are dropped, too: they only
/// permit more results, so the result without them is still allowed.
ParseResult
mlir::triton_ext::linalg_ext::parseReduction(OpAsmParser &parser,
                                             OperationState &result) {
  static constexpr StringRef known[] = {"dimensions"};
  Clauses clauses{parser, result, known};
  clauses.bodyKind = BodyKind::AfterArguments;
  clauses.mayBeShort = clauses.infersResults = true;
  if (clauses.parse() || clauses.check("ins", clauses.ins, clauses.insLoc, 1) ||
      clauses.check("outs", clauses.outs, clauses.outsLoc, 1))
    return failure();
  StringRef name = result.name.getStringRef();
  ArrayRef<StringRef> combiners = getCombiners(name);
  bool isShort = !clauses.payload.empty();
  if ((isShort && !llvm::is_contained(combiners, clauses.payload)) ||
      (clauses.hasBody && !isOneOf(clauses.body, combiners))) {
    InFlightDiagnostic error = parser.emitError(clauses.bodyLoc);
    error << "expected a body of ";
    llvm::interleave(combiners, error, " or ");
    return error << ", as the name of " << name
                 << " says; linalg.reduce takes any other";
  }
  if (clauses.hasBody)
    for (auto [type, argument] :
         llvm::zip(llvm::concat<Type>(clauses.inTypes, clauses.outTypes),
                   clauses.body.getArgumentTypes()))
      if (getElementTypeOrSelf(type) != argument)
        return parser.emitError(clauses.bodyLoc)
               << "expected a body with arguments of type "
               << getElementTypeOrSelf(type) << ", got " << argument;
  if (Attribute dimensions = clauses.numbers.lookup("dimensions"))
    result.addAttribute("dimensions", dimensions);
  return failure(
      clauses.resolve(clauses.ins, clauses.inTypes, clauses.insLoc) ||
      clauses.resolve(clauses.outs, clauses.outTypes, clauses.outsLoc) ||
      addBody(clauses) || clauses.addResults());
}

void mlir::triton_ext::linalg_ext::printReduction(OpAsmPrinter &printer,
                                                  Operation *op) {
  printList(printer, op, "dimensions");
  printOperands(printer, "ins", op->getOperand(0));
  printOperands(printer, "outs", op->getOperand(1));
  printAttributes(printer, op, {"dimensions"});
  printEnd(printer, op);
}

//===----------------------------------------------------------------------===//
// argmax, argmin
//===----------------------------------------------------------------------===//

ParseResult mlir::triton_ext::linalg_ext::parseArg(OpAsmParser &parser,
                                                   OperationState &result) {
  static constexpr StringRef known[] = {"dimension", "dimensions",
                                        "tie_break_left"};
  Clauses clauses{parser, result, known};
  clauses.bodyKind = BodyKind::AfterArguments;
  clauses.infersResults = clauses.endsInLinalg = true;
  if (clauses.parse() || clauses.check("ins", clauses.ins, clauses.insLoc, 2) ||
      clauses.addDimension())
    return failure();
  Attribute tie = clauses.numbers.lookup("tie_break_left");
  if (tie && clauses.hasBody)
    return parser.emitError(clauses.bodyLoc)
           << "expected tie_break_left or a body, which says it itself";
  if (!tie && !clauses.hasBody)
    return parser.emitError(parser.getNameLoc())
           << "expected tie_break_left or a body";
  if (clauses.resolve(clauses.ins, clauses.inTypes, clauses.insLoc) ||
      clauses.resolve(clauses.outs, clauses.outTypes, clauses.outsLoc) ||
      clauses.addResults())
    return failure();
  if (clauses.hasBody) {
    result.addRegion()->takeBody(clauses.body);
    return success();
  }
  result.addAttribute("tie_break_left", tie);
  return addBody(clauses);
}

void mlir::triton_ext::linalg_ext::printArg(OpAsmPrinter &printer,
                                            Operation *op) {
  Region &body = op->getRegion(0);
  printer << " dimension = "
          << op->getAttrOfType<IntegerAttr>("dimension").getInt();
  bool isNamed = op->hasAttr("tie_break_left");
  if (isNamed)
    printer << " tie_break_left(" << op->getAttr("tie_break_left") << ')';
  printOperands(printer, "ins", op->getOperands().take_front(2));
  printOperands(printer, "outs", op->getOperands().drop_front(2));
  printAttributes(printer, op, {"dimension", "tie_break_left"});
  if (!isNamed) {
    printer << " (";
    llvm::interleaveComma(body.getArguments(), printer, [&](auto argument) {
      printer.printRegionArgument(argument);
    });
    printer << ") ";
    printer.printRegion(body, /*printEntryBlockArgs=*/false);
  }
  printEnd(printer, op);
}

//===----------------------------------------------------------------------===//
// batch_conv_2d_nhwc_fhwc, im2col, pooling_nhwc_max_nan, pooling_nhwc_min_nan
//===----------------------------------------------------------------------===//

/// Sets strides or dilations from a clause or from the attribute dictionary,
/// which may have a tensor of i64. The default is 1 along each dimension.
static ParseResult setSteps(Clauses &clauses, StringRef name) {
  OpAsmParser &parser = clauses.parser;
  Attribute steps = clauses.numbers.lookup(name);
  Attribute given = clauses.result.attributes.erase(name);
  if (steps && given)
    return parser.emitError(parser.getNameLoc())
           << "expected " << name << " once";
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(given))
    if (elements.getElementType().isInteger(64) &&
        elements.getType().getRank() == 1)
      steps = parser.getBuilder().getDenseI64ArrayAttr(
          llvm::to_vector(elements.getValues<int64_t>()));
  if (isa_and_nonnull<DenseI64ArrayAttr>(given))
    steps = given;
  if (given && !steps)
    return parser.emitError(parser.getNameLoc())
           << "expected " << name << " that are two numbers of i64, got "
           << given;
  if (!steps)
    steps = parser.getBuilder().getDenseI64ArrayAttr({1, 1});
  clauses.result.addAttribute(name, steps);
  return success();
}

ParseResult mlir::triton_ext::linalg_ext::parseWindows(OpAsmParser &parser,
                                                       OperationState &result) {
  static constexpr StringRef known[] = {"strides", "dilations"};
  Clauses clauses{parser, result, known};
  size_t count = result.name.getStringRef() == "linalg_ext.im2col" ? 1 : 2;
  return failure(
      clauses.parse() ||
      clauses.check("ins", clauses.ins, clauses.insLoc, count) ||
      clauses.check("outs", clauses.outs, clauses.outsLoc, 1) ||
      setSteps(clauses, "strides") || setSteps(clauses, "dilations") ||
      clauses.resolve(clauses.ins, clauses.inTypes, clauses.insLoc) ||
      clauses.resolve(clauses.outs, clauses.outTypes, clauses.outsLoc) ||
      addBody(clauses) || clauses.addResults());
}

void mlir::triton_ext::linalg_ext::printWindows(OpAsmPrinter &printer,
                                                Operation *op) {
  printList(printer, op, "strides");
  printList(printer, op, "dilations");
  printOperands(printer, "ins", op->getOperands().drop_back());
  printOperands(printer, "outs", op->getOperands().take_back());
  printAttributes(printer, op, {"strides", "dilations"});
  printEnd(printer, op);
}
