// SPDX-License-Identifier: Apache-2.0
//
// How operations of this dialect are read and printed that triton-linalg writes
// in another order, or with a body. Both orders are read, one is printed.

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

/// Removes what other printers add to the attributes of an operation, and what
/// is not an attribute here: sizes of operand segments and memoized maps.
void dropForeignAttributes(NamedAttrList &attributes);

/// Attributes in braces, if there are any.
ParseResult parseAttributes(OpAsmParser &parser, NamedAttrList &attributes);
/// All but these.
void printAttributes(OpAsmPrinter &printer, Operation *op,
                     ArrayRef<StringRef> elided);

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_SYNTAX_H
