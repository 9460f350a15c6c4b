// SPDX-License-Identifier: Apache-2.0
//
// What is behind the name of an operation in text, read in any order.

#ifndef TRITON_EXT_LINALG_EXT_CLAUSES_H
#define TRITON_EXT_LINALG_EXT_CLAUSES_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// How the body of an operation is written.
enum class BodyKind { None, AfterArguments, InBraces };

/// What comes behind the name of an operation.
struct Clauses {
  Clauses(OpAsmParser &parser, OperationState &result,
          ArrayRef<StringRef> known)
      : parser(parser), result(result), known(known) {}

  OpAsmParser &parser;
  OperationState &result;
  /// The names that the operation knows, besides ins and outs.
  ArrayRef<StringRef> known;
  BodyKind bodyKind = BodyKind::None;
  /// Whether the name of the operation in the body can stand for the body.
  bool mayBeShort = false;
  /// Whether results are those of the outs if none are named.
  bool infersResults = false;

  SmallVector<OpAsmParser::UnresolvedOperand> ins, outs;
  SmallVector<Type> inTypes, outTypes, resultTypes;
  SMLoc insLoc, outsLoc, bodyLoc;
  /// By name.
  llvm::StringMap<Attribute> numbers;
  Region body;
  std::string payload;
  bool hasBody = false, hasResults = false;

  ParseResult parse();
  /// Fails unless there are as many operands as one of the counts says.
  ParseResult check(StringRef what,
                    ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                    SMLoc where, ArrayRef<size_t> counts);
  ParseResult resolve(ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                      ArrayRef<Type> types, SMLoc where) {
    return parser.resolveOperands(operands, types, where, result.operands);
  }
  ParseResult addResults();
  void setSegments(ArrayRef<int32_t> sizes) {
    result.addAttribute("operandSegmentSizes",
                        parser.getBuilder().getDenseI32ArrayAttr(sizes));
  }

private:
  /// Attributes, or the name of the operation in the body.
  ParseResult parseFront();
  ParseResult
  parseOperands(SmallVector<OpAsmParser::UnresolvedOperand> &operands,
                SmallVector<Type> &types, SMLoc &where);
  ParseResult parseNumber(StringRef name);
  ParseResult parseBody(ArrayRef<OpAsmParser::Argument> arguments);
  ParseResult parseResults();
};

/// ` ins(%a, %b : T, U)`
void printOperands(OpAsmPrinter &printer, StringRef name, ValueRange values);
/// ` strides = [1, 2]`
void printList(OpAsmPrinter &printer, Operation *op, StringRef name);
/// The types of the results, if there are any.
void printEnd(OpAsmPrinter &printer, Operation *op);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_CLAUSES_H
