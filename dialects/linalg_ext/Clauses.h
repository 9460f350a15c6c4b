// SPDX-License-Identifier: Apache-2.0
//
// Parses what follows an operation's name in the textual form: clauses in any
// order.

#ifndef TRITON_EXT_LINALG_EXT_CLAUSES_H
#define TRITON_EXT_LINALG_EXT_CLAUSES_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// How the body of an operation is written.
enum class BodyKind { None, AfterArguments, InBraces };

/// The clauses, attributes, body and result types that follow an operation's
/// name.
struct Clauses {
  Clauses(OpAsmParser &parser, OperationState &result,
          ArrayRef<StringRef> known)
      : parser(parser), result(result), known(known) {}

  OpAsmParser &parser;
  OperationState &result;
  /// The names of the operation's clauses, except `ins` and `outs`.
  ArrayRef<StringRef> known;
  BodyKind bodyKind = BodyKind::None;
  /// Whether the body may be written as the name of its only operation:
  /// `{ arith.addf }`.
  bool mayBeShort = false;
  /// Whether the body ends in linalg.yield, not in linalg_ext.yield.
  bool endsInLinalg = false;
  /// Whether the result types are those of the outs if the text gives none.
  bool infersResults = false;

  SmallVector<OpAsmParser::UnresolvedOperand> ins, outs;
  SmallVector<Type> inTypes, outTypes, resultTypes;
  SMLoc insLoc, outsLoc, bodyLoc;
  /// The values of the clauses in `known`, by name.
  llvm::StringMap<Attribute> numbers;
  Region body;
  std::string payload;
  bool hasBody = false, hasResults = false;

  ParseResult parse();
  /// Fails unless the number of operands is one of `counts`.
  ParseResult check(StringRef what,
                    ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                    SMLoc where, ArrayRef<size_t> counts);
  ParseResult resolve(ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                      ArrayRef<Type> types, SMLoc where) {
    return parser.resolveOperands(operands, types, where, result.operands);
  }
  ParseResult addResults();
  /// Sets the dimension from `dimension = 1` or `dimensions = [1]`.
  ParseResult addDimension();
  void setSegments(ArrayRef<int32_t> sizes) {
    result.addAttribute("operandSegmentSizes",
                        parser.getBuilder().getDenseI32ArrayAttr(sizes));
  }

private:
  /// Parses the attributes, or the name of the operation in the body.
  ParseResult parseFront();
  ParseResult
  parseOperands(SmallVector<OpAsmParser::UnresolvedOperand> &operands,
                SmallVector<Type> &types, SMLoc &where);
  ParseResult parseNumber(StringRef name);
  ParseResult parseBody(ArrayRef<OpAsmParser::Argument> arguments);
  ParseResult parseResults();
};

/// Prints ` ins(%a, %b : T, U)`.
void printOperands(OpAsmPrinter &printer, StringRef name, ValueRange values);
/// Prints ` strides = [1, 2]`.
void printList(OpAsmPrinter &printer, Operation *op, StringRef name);
/// Prints the result types, if there are any.
void printEnd(OpAsmPrinter &printer, Operation *op);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_CLAUSES_H
