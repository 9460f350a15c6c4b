// SPDX-License-Identifier: Apache-2.0
//
// Parsers and printers of the operations that triton-linalg writes with another
// order of clauses, or with a body. The parsers accept both forms; the printers
// write this dialect's.

#ifndef TRITON_EXT_LINALG_EXT_SYNTAX_H
#define TRITON_EXT_LINALG_EXT_SYNTAX_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

// The names are those of LinalgExt_Written in LinalgExt.td.
ParseResult parseArg(OpAsmParser &parser, OperationState &result);
ParseResult parseAssert(OpAsmParser &parser, OperationState &result);
ParseResult parseAtomicCAS(OpAsmParser &parser, OperationState &result);
ParseResult parseAtomicRMW(OpAsmParser &parser, OperationState &result);
ParseResult parseGatherAtomicCAS(OpAsmParser &parser, OperationState &result);
ParseResult parseGatherAtomicRMW(OpAsmParser &parser, OperationState &result);
ParseResult parseReduction(OpAsmParser &parser, OperationState &result);
ParseResult parseScan(OpAsmParser &parser, OperationState &result);
ParseResult parseWindows(OpAsmParser &parser, OperationState &result);
void printArg(OpAsmPrinter &printer, Operation *op);
void printAssert(OpAsmPrinter &printer, Operation *op);
void printAtomicCAS(OpAsmPrinter &printer, Operation *op);
void printAtomicRMW(OpAsmPrinter &printer, Operation *op);
void printGatherAtomicCAS(OpAsmPrinter &printer, Operation *op);
void printGatherAtomicRMW(OpAsmPrinter &printer, Operation *op);
void printReduction(OpAsmPrinter &printer, Operation *op);
void printScan(OpAsmPrinter &printer, Operation *op);
void printWindows(OpAsmPrinter &printer, Operation *op);

/// Removes entries that printers of other dialects write into the attribute
/// dictionary and that are not attributes here: sizes of operand segments and
/// memoized indexing maps.
void dropForeignAttributes(NamedAttrList &attributes);

/// Parses attributes in braces, if there are any.
ParseResult parseAttributes(OpAsmParser &parser, NamedAttrList &attributes);
/// Prints all attributes except `elided`.
void printAttributes(OpAsmPrinter &printer, Operation *op,
                     ArrayRef<StringRef> elided);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_SYNTAX_H
