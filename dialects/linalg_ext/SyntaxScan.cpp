// SPDX-License-Identifier: Apache-2.0
//
// Parser and printer of scans.

#include "Clauses.h"
#include "Syntax.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// Makes the body of a scan yield what is carried, as it was before the
/// element.
static ParseResult excludeElements(Clauses &clauses) {
  size_t count = clauses.ins.size();
  if (clauses.outs.size() != 2 * count)
    return clauses.parser.emitError(clauses.parser.getNameLoc())
           << "expected as many carried values as inputs, with which the lines "
              "of an exclusive scan begin, got "
           << clauses.outs.size() << " inits and " << count << " inputs";
  if (clauses.body.empty() || clauses.body.front().empty())
    return success();
  Block &body = clauses.body.front();
  Operation &yield = body.back();
  // The verifier says what is wrong with another body.
  if (body.getNumArguments() == 3 * count && yield.getNumOperands() >= count)
    for (size_t i = 0; i < count; ++i)
      yield.setOperand(i, body.getArgument(2 * count + i));
  return success();
}

ParseResult mlir::triton_ext::linalg_ext::parseScan(OpAsmParser &parser,
                                                    OperationState &result) {
  static constexpr StringRef known[] = {"dimension", "dimensions", "reverse",
                                        "inclusive"};
  Clauses clauses{parser, result, known};
  clauses.bodyKind = BodyKind::InBraces;
  if (clauses.parse() || clauses.addDimension())
    return failure();
  Builder &builder = parser.getBuilder();
  Attribute inclusive = clauses.numbers.lookup("inclusive");
  if (inclusive && !isa<BoolAttr>(inclusive))
    return parser.emitError(parser.getNameLoc())
           << "expected inclusive = true or false, got " << inclusive;
  if (inclusive == builder.getBoolAttr(false) && excludeElements(clauses))
    return failure();
  Attribute reverse = clauses.numbers.lookup("reverse");
  result.addAttribute("reverse",
                      reverse ? reverse : builder.getBoolAttr(false));
  result.addRegion()->takeBody(clauses.body);
  clauses.setSegments(
      {int32_t(clauses.ins.size()), int32_t(clauses.outs.size())});
  return failure(
      clauses.resolve(clauses.ins, clauses.inTypes, clauses.insLoc) ||
      clauses.resolve(clauses.outs, clauses.outTypes, clauses.outsLoc) ||
      clauses.addResults());
}

void mlir::triton_ext::linalg_ext::printScan(OpAsmPrinter &printer,
                                             Operation *op) {
  auto scan = cast<ScanOp>(op);
  printer << " dimension = " << int64_t(scan.getDimension()) << " reverse("
          << (scan.getReverse() ? "true" : "false") << ')';
  printOperands(printer, "ins", scan.getInputs());
  printOperands(printer, "outs", scan.getInits());
  SmallVector<StringRef> elided{"dimension", "reverse", "operandSegmentSizes"};
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(scan.getBody());
  printEnd(printer, op);
}
