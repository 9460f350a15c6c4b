// SPDX-License-Identifier: Apache-2.0
//
// Parser and printer of assertions.

#include "Syntax.h"

#include "Clauses.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// Parses an assertion. The message comes first or in the attribute dictionary.
ParseResult mlir::triton_ext::linalg_ext::parseAssert(OpAsmParser &parser,
                                                      OperationState &result) {
  StringAttr message;
  OptionalParseResult hasMessage =
      parser.parseOptionalAttribute(message, Type());
  if (hasMessage.has_value() && failed(*hasMessage))
    return failure();
  Clauses clauses{parser, result, {}};
  if (clauses.parse() || clauses.check("ins", clauses.ins, clauses.insLoc, 1) ||
      clauses.check("outs", clauses.outs, clauses.outsLoc, 0))
    return failure();
  if (message && result.attributes.get("msg"))
    return parser.emitError(parser.getNameLoc()) << "expected one message";
  if (message)
    result.addAttribute("msg", message);
  return failure(
      clauses.resolve(clauses.ins, clauses.inTypes, clauses.insLoc) ||
      clauses.addResults());
}

void mlir::triton_ext::linalg_ext::printAssert(OpAsmPrinter &printer,
                                               Operation *op) {
  printer << ' ' << op->getAttr("msg");
  printOperands(printer, "ins", op->getOperands());
  printAttributes(printer, op, {"msg"});
  printEnd(printer, op);
}
