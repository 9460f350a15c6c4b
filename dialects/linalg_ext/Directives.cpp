// SPDX-License-Identifier: Apache-2.0
//
// Parses and prints the parts of an operation that have a directive of this
// dialect.

#include "Directives.h"

#include "Structure.h"
#include "Syntax.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;

//===----------------------------------------------------------------------===//
// Lists of operands whose last one is optional
//===----------------------------------------------------------------------===//

/// Parses `%a, %b : T, U`, whose last operand may be missing.
static ParseResult
parseOperandsAndTypes(OpAsmParser &parser,
                      MutableArrayRef<OpAsmParser::UnresolvedOperand> required,
                      MutableArrayRef<Type> requiredTypes,
                      std::optional<OpAsmParser::UnresolvedOperand> &last,
                      Type &lastType) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) || parser.parseColonTypeList(types))
    return failure();
  size_t wanted = required.size();
  if (operands.size() != wanted && operands.size() != wanted + 1)
    return parser.emitError(where)
           << "expected " << wanted << " operands and an optional mask, got "
           << operands.size() << " operands";
  if (types.size() != operands.size())
    return parser.emitError(where) << "expected as many types as operands";
  llvm::copy(ArrayRef(operands).take_front(wanted), required.begin());
  llvm::copy(ArrayRef(types).take_front(wanted), requiredTypes.begin());
  if (operands.size() > wanted) {
    last = operands.back();
    lastType = types.back();
  }
  return success();
}

ParseResult linalg_ext::parseInputs(
    OpAsmParser &parser, OpAsmParser::UnresolvedOperand &input, Type &inputType,
    OpAsmParser::UnresolvedOperand &indices, Type &indicesType,
    std::optional<OpAsmParser::UnresolvedOperand> &mask, Type &maskType) {
  OpAsmParser::UnresolvedOperand operands[2];
  Type types[2];
  if (parseOperandsAndTypes(parser, operands, types, mask, maskType))
    return failure();
  std::tie(input, indices) = std::tie(operands[0], operands[1]);
  std::tie(inputType, indicesType) = std::tie(types[0], types[1]);
  return success();
}

ParseResult linalg_ext::parseInputAndMask(
    OpAsmParser &parser, OpAsmParser::UnresolvedOperand &input, Type &inputType,
    std::optional<OpAsmParser::UnresolvedOperand> &mask, Type &maskType) {
  return parseOperandsAndTypes(parser, input, inputType, mask, maskType);
}

static void printValues(OpAsmPrinter &printer, ArrayRef<Value> values) {
  SmallVector<Value> present(llvm::make_filter_range(
      values, [](Value value) { return static_cast<bool>(value); }));
  printer << present << " : " << ValueRange(present).getTypes();
}

void linalg_ext::printInputs(OpAsmPrinter &printer, Operation *, Value input,
                             Type, Value indices, Type, Value mask, Type) {
  printValues(printer, {input, indices, mask});
}

void linalg_ext::printInputAndMask(OpAsmPrinter &printer, Operation *,
                                   Value input, Type, Value mask, Type) {
  printValues(printer, {input, mask});
}

//===----------------------------------------------------------------------===//
// Attributes, which triton-linalg writes in front
//===----------------------------------------------------------------------===//

ParseResult linalg_ext::parseFrontAttributes(OpAsmParser &parser,
                                             NamedAttrList &attributes) {
  return parseAttributes(parser, attributes);
}

void linalg_ext::printFrontAttributes(OpAsmPrinter &, Operation *,
                                      DictionaryAttr) {}

ParseResult linalg_ext::parseRestAttributes(OpAsmParser &parser,
                                            NamedAttrList &attributes) {
  return parseAttributes(parser, attributes);
}

void linalg_ext::printRestAttributes(OpAsmPrinter &printer, Operation *op,
                                     DictionaryAttr) {
  printer.printOptionalAttrDict(llvm::to_vector(op->getDiscardableAttrs()));
}

/// Parses attributes after a keyword, because a body in braces follows.
ParseResult linalg_ext::parseBodyAttributes(OpAsmParser &parser,
                                            NamedAttrList &attributes) {
  if (parser.parseOptionalAttrDictWithKeyword(attributes))
    return failure();
  dropForeignAttributes(attributes);
  return success();
}

void linalg_ext::printBodyAttributes(OpAsmPrinter &printer, Operation *op,
                                     DictionaryAttr) {
  printer.printOptionalAttrDictWithKeyword(
      llvm::to_vector(op->getDiscardableAttrs()));
}

//===----------------------------------------------------------------------===//
// The body of a pad
//===----------------------------------------------------------------------===//

/// Parses the body of a pad. An empty body yields the elements. So does a body
/// that yields its only argument, whatever the argument's type: triton-linalg
/// writes an index there.
ParseResult linalg_ext::parsePadBody(OpAsmParser &parser, Region &body,
                                     Type input) {
  if (parser.parseRegion(body))
    return failure();
  auto type = dyn_cast<ShapedType>(input);
  if (!type)
    return success();
  Type element = type.getElementType();
  if (body.empty()) {
    OpBuilder builder(parser.getContext());
    Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
    Block *block = builder.createBlock(&body, {}, element, loc);
    YieldOp::create(builder, loc, block->getArgument(0));
    return success();
  }
  Block &block = body.front();
  if (body.hasOneBlock() && block.getNumArguments() == 1 &&
      llvm::hasSingleElement(block) && isa<YieldOp>(block.front()) &&
      llvm::equal(block.front().getOperands(), block.getArguments()))
    block.getArgument(0).setType(element);
  return success();
}

void linalg_ext::printPadBody(OpAsmPrinter &printer, Operation *, Region &body,
                              Type) {
  printer.printRegion(body);
}

//===----------------------------------------------------------------------===//
// The body of a structured operation
//===----------------------------------------------------------------------===//

static ParseResult buildBody(OpAsmParser &parser, Region &body, StringRef name,
                             ArrayRef<Type> operands) {
  OpBuilder builder(parser.getContext());
  fillBody(builder, parser.getEncodedSourceLoc(parser.getNameLoc()), name, body,
           operands);
  return success();
}

ParseResult linalg_ext::parseRangeBody(OpAsmParser &parser, Region &body,
                                       Type start, Type end, Type init) {
  return buildBody(parser, body, "make_range", {start, end, init});
}

ParseResult linalg_ext::parseTriBody(OpAsmParser &parser, Region &body,
                                     Type diagonal, Type init) {
  return buildBody(parser, body, "tri", {diagonal, init});
}
