// SPDX-License-Identifier: Apache-2.0
//
// The custom directives in the assembly formats of LinalgExt.td.

#ifndef TRITON_EXT_LINALG_EXT_DIRECTIVES_H
#define TRITON_EXT_LINALG_EXT_DIRECTIVES_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

/// Operands whose last one, a mask, is optional: `%a, %b, %mask : T, U, V`.
ParseResult parseInputs(OpAsmParser &parser,
                        OpAsmParser::UnresolvedOperand &input, Type &inputType,
                        OpAsmParser::UnresolvedOperand &indices,
                        Type &indicesType,
                        std::optional<OpAsmParser::UnresolvedOperand> &mask,
                        Type &maskType);
ParseResult parseInputAndMask(
    OpAsmParser &parser, OpAsmParser::UnresolvedOperand &input, Type &inputType,
    std::optional<OpAsmParser::UnresolvedOperand> &mask, Type &maskType);
void printInputs(OpAsmPrinter &printer, Operation *, Value input, Type,
                 Value indices, Type, Value mask, Type);
void printInputAndMask(OpAsmPrinter &printer, Operation *, Value input, Type,
                       Value mask, Type);

/// Attributes in front of the operands, as triton-linalg writes them.
ParseResult parseFrontAttributes(OpAsmParser &parser,
                                 NamedAttrList &attributes);
void printFrontAttributes(OpAsmPrinter &, Operation *, DictionaryAttr);

/// Attributes at the end.
ParseResult parseRestAttributes(OpAsmParser &parser, NamedAttrList &attributes);
void printRestAttributes(OpAsmPrinter &printer, Operation *op, DictionaryAttr);

/// Attributes after a keyword, because a body in braces follows.
ParseResult parseBodyAttributes(OpAsmParser &parser, NamedAttrList &attributes);
void printBodyAttributes(OpAsmPrinter &printer, Operation *op, DictionaryAttr);

/// The body of a pad. An empty body yields the elements. So does a body that
/// yields its only argument, whatever the argument's type: triton-linalg writes
/// an index there.
ParseResult parsePadBody(OpAsmParser &parser, Region &body, Type input);
void printPadBody(OpAsmPrinter &printer, Operation *, Region &body, Type);

/// Builds the body of a range or a triangle, which the text does not show.
ParseResult parseRangeBody(OpAsmParser &parser, Region &body, Type start,
                           Type end, Type init);
ParseResult parseTriBody(OpAsmParser &parser, Region &body, Type diagonal,
                         Type init);
inline void printRangeBody(OpAsmPrinter &, Operation *, Region &, Type, Type,
                           Type) {}
inline void printTriBody(OpAsmPrinter &, Operation *, Region &, Type, Type) {}

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_DIRECTIVES_H
