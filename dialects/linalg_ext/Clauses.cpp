// SPDX-License-Identifier: Apache-2.0
//
// Parses the clauses of an operation (`ins`, `outs`, `dimension`, ...) in any
// order. The printers use one order; triton-linalg writes another.

#include "Clauses.h"

#include "Syntax.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

void mlir::triton_ext::linalg_ext::dropForeignAttributes(
    NamedAttrList &attributes) {
  for (StringRef name : {"operandSegmentSizes", "operand_segment_sizes",
                         "linalg.memoized_indexing_maps"})
    attributes.erase(name);
}

ParseResult
mlir::triton_ext::linalg_ext::parseAttributes(OpAsmParser &parser,
                                              NamedAttrList &attributes) {
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  dropForeignAttributes(attributes);
  return success();
}

void mlir::triton_ext::linalg_ext::printAttributes(OpAsmPrinter &printer,
                                                   Operation *op,
                                                   ArrayRef<StringRef> elided) {
  SmallVector<StringRef> names(elided);
  names.push_back("operandSegmentSizes");
  printer.printOptionalAttrDict(op->getAttrs(), names);
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

ParseResult Clauses::parseFront() {
  // `{ arith.addf }` is a body and `{mine}` is an attribute. Both begin with a
  // brace and a word, so only the word tells which one it is.
  if (!mayBeShort)
    return parseAttributes(parser, result.attributes);
  if (parser.parseOptionalLBrace())
    return success();
  bool isFirst = true;
  do {
    if (isFirst && succeeded(parser.parseOptionalRBrace()))
      return success();
    SMLoc where = parser.getCurrentLocation();
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    NamedAttrList ofPayload;
    if (isFirst && RegisteredOperationName::lookup(name, parser.getContext()) &&
        failed(parser.parseOptionalEqual())) {
      bodyLoc = where;
      payload = name;
      return failure(parser.parseOptionalAttrDict(ofPayload) ||
                     parser.parseRBrace());
    }
    Attribute value = parser.getBuilder().getUnitAttr();
    if (succeeded(parser.parseOptionalEqual()) && parser.parseAttribute(value))
      return failure();
    result.addAttribute(name, value);
    isFirst = false;
  } while (succeeded(parser.parseOptionalComma()));
  dropForeignAttributes(result.attributes);
  return parser.parseRBrace();
}

ParseResult
Clauses::parseOperands(SmallVector<OpAsmParser::UnresolvedOperand> &operands,
                       SmallVector<Type> &types, SMLoc &where) {
  if (parser.parseLParen())
    return failure();
  where = parser.getCurrentLocation();
  return failure(parser.parseOperandList(operands) ||
                 parser.parseColonTypeList(types) || parser.parseRParen());
}

/// `n = 1`, `n = [1]` or `n(true)`.
ParseResult Clauses::parseNumber(StringRef name) {
  SMLoc where = parser.getCurrentLocation();
  if (numbers.contains(name))
    return parser.emitError(where) << "expected " << name << " once";
  Attribute value;
  bool inParens = succeeded(parser.parseOptionalLParen());
  if (!inParens && parser.parseEqual())
    return failure();
  // The attribute parser would read `[1, 2]` as an ArrayAttr, so the list is
  // parsed here.
  SmallVector<int64_t> list;
  auto parseElement = [&] { return parser.parseInteger(list.emplace_back()); };
  if (succeeded(parser.parseOptionalLSquare())) {
    if (failed(parser.parseOptionalRSquare()) &&
        (parser.parseCommaSeparatedList(parseElement) || parser.parseRSquare()))
      return failure();
    value = parser.getBuilder().getDenseI64ArrayAttr(list);
  } else if (parser.parseAttribute(value)) {
    return failure();
  }
  numbers[name] = value;
  return inParens ? parser.parseRParen() : success();
}

/// Replaces a `From` that ends the body by a `To`.
template <typename From, typename To> static void replaceYield(Region &body) {
  if (body.empty() || body.front().empty())
    return;
  if (auto yield = dyn_cast<From>(body.front().back())) {
    OpBuilder builder(yield);
    To::create(builder, yield.getLoc(), yield.getOperands());
    yield.erase();
  }
}

ParseResult Clauses::parseBody(ArrayRef<OpAsmParser::Argument> arguments) {
  bodyLoc = parser.getCurrentLocation();
  hasBody = true;
  if (parser.parseRegion(body, arguments))
    return failure();
  if (endsInLinalg)
    replaceYield<YieldOp, linalg::YieldOp>(body);
  else
    replaceYield<linalg::YieldOp, YieldOp>(body);
  return success();
}

ParseResult Clauses::parseResults() {
  hasResults = true;
  if (failed(parser.parseOptionalLParen()))
    return parser.parseTypeList(resultTypes);
  return failure(parser.parseTypeList(resultTypes) || parser.parseRParen());
}

ParseResult Clauses::parse() {
  if (parseFront())
    return failure();
  while (true) {
    StringRef name;
    if (succeeded(parser.parseOptionalArrow()))
      return parseResults();
    if (succeeded(parser.parseOptionalKeyword("ins"))) {
      if (parseOperands(ins, inTypes, insLoc))
        return failure();
    } else if (succeeded(parser.parseOptionalKeyword("outs"))) {
      if (parseOperands(outs, outTypes, outsLoc))
        return failure();
    } else if (succeeded(parser.parseOptionalKeyword("attributes"))) {
      if (parseAttributes(parser, result.attributes))
        return failure();
    } else if (!known.empty() &&
               succeeded(parser.parseOptionalKeyword(&name, known))) {
      if (parseNumber(name))
        return failure();
    } else if (bodyKind == BodyKind::InBraces && !hasBody) {
      if (parseBody({}))
        return failure();
    } else if (bodyKind == BodyKind::AfterArguments && !hasBody) {
      const char *before = parser.getCurrentLocation().getPointer();
      SmallVector<OpAsmParser::Argument> arguments;
      if (parseAttributes(parser, result.attributes))
        return failure();
      if (parser.parseArgumentList(arguments,
                                   OpAsmParser::Delimiter::OptionalParen,
                                   /*allowType=*/true, /*allowAttrs=*/true))
        return failure();
      if (!arguments.empty() && parseBody(arguments))
        return failure();
      if (before == parser.getCurrentLocation().getPointer())
        return success();
    } else {
      const char *before = parser.getCurrentLocation().getPointer();
      if (parseAttributes(parser, result.attributes))
        return failure();
      if (before == parser.getCurrentLocation().getPointer())
        return success();
    }
  }
}

ParseResult Clauses::check(StringRef what,
                           ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                           SMLoc where, ArrayRef<size_t> counts) {
  if (llvm::is_contained(counts, operands.size()))
    return success();
  if (!where.isValid())
    where = parser.getCurrentLocation();
  InFlightDiagnostic error = parser.emitError(where) << "expected ";
  llvm::interleave(
      counts, [&](size_t count) { error << count; }, [&] { error << " or "; });
  return error << " operands in " << what << ", got " << operands.size();
}

/// Adds the results that are tensors. triton-linalg also returns the memrefs
/// that are written. Such a result is dropped if it has no name, since then
/// nothing uses it, and is an error otherwise.
ParseResult Clauses::addDimension() {
  Attribute one = numbers.lookup("dimension");
  Attribute list = numbers.lookup("dimensions");
  auto dimensions = dyn_cast_or_null<DenseI64ArrayAttr>(list);
  if (one && !list && isa<IntegerAttr>(one) && !isa<BoolAttr>(one)) {
    result.addAttribute("dimension", one);
    return success();
  }
  if (!one && dimensions && dimensions.size() == 1) {
    result.addAttribute("dimension", parser.getBuilder().getI64IntegerAttr(
                                         dimensions.asArrayRef().front()));
    return success();
  }
  // A tensor of one element and no dimensions is one line.
  auto type =
      inTypes.empty() ? ShapedType() : dyn_cast<ShapedType>(inTypes.front());
  if (!one && dimensions && dimensions.empty() && type && type.getRank() == 0) {
    result.addAttribute("dimension", parser.getBuilder().getI64IntegerAttr(0));
    return success();
  }
  return parser.emitError(parser.getNameLoc())
         << "expected one dimension, as in `dimension = 1` or "
            "`dimensions = [1]`";
}

ParseResult Clauses::addResults() {
  if (infersResults && !hasResults)
    resultTypes = outTypes;
  for (Type type : resultTypes)
    if (!isa<MemRefType>(type))
      result.addTypes(type);
    else if (hasResults && parser.getNumResults() != 0)
      return parser.emitError(parser.getNameLoc())
             << "expected results that are tensors, got " << type
             << ": use the operand in outs in place of this result";
  return success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void mlir::triton_ext::linalg_ext::printOperands(OpAsmPrinter &printer,
                                                 StringRef name,
                                                 ValueRange values) {
  printer << ' ' << name << '(' << values << " : " << values.getTypes() << ')';
}

void mlir::triton_ext::linalg_ext::printList(OpAsmPrinter &printer,
                                             Operation *op, StringRef name) {
  printer << ' ' << name << " = ["
          << op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef() << ']';
}

void mlir::triton_ext::linalg_ext::printEnd(OpAsmPrinter &printer,
                                            Operation *op) {
  if (op->getNumResults() != 0)
    printer << " -> " << op->getResultTypes();
}
