// SPDX-License-Identifier: Apache-2.0
//
// Parsers and printers of the atomics of the dialect `tts`. The word `into`
// after the first operands distinguishes the unstructured form:
//
//   KIND, SEM, SCOPE, PTR, VALUES [, MASK_DIMS] : (TYPES) -> TYPE
//   KIND, SEM, SCOPE, VALUES into PTR[OFFSET] [mask = MASK]
//       : TYPES into (PTR_TYPE, OFFSET_TYPE) -> TYPE

#include "Tts.h"

using namespace mlir;
using namespace mlir::triton_ext::tts;
namespace tt = mlir::triton;

using Operands = SmallVector<OpAsmParser::UnresolvedOperand>;

static constexpr StringLiteral segmentsName = "operandSegmentSizes";
static constexpr StringLiteral maskDimsName = "static_mask_dims";

/// Parses one of the words of an enum, and a comma.
template <typename Enum>
static ParseResult parseEnum(OpAsmParser &parser, OperationState &state,
                             StringRef name,
                             std::optional<Enum> (*symbolize)(StringRef)) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<Enum> value = symbolize(word);
  if (!value)
    return parser.emitError(loc)
           << "expected a word for '" << name << "', got '" << word << "'";
  state.addAttribute(name,
                     parser.getBuilder().getI32IntegerAttr(int32_t(*value)));
  return parser.parseComma();
}

namespace {
/// What follows the words of an atomic.
struct Parsed {
  bool isStructured = true;
  /// Operands in the order of the structured form, with the values after the
  /// pointer; without offset and mask.
  Operands operands;
  Operands offset, mask;
};
} // namespace

/// Parses the operands of either form, then attributes and types, and adds them
/// to the state in the order pointer, values, offset, mask, further operands.
static FailureOr<Parsed> parseAccess(OpAsmParser &parser, OperationState &state,
                                     size_t numValues, bool mayHaveMask) {
  Parsed parsed;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(parsed.operands))
    return failure();
  parsed.isStructured = failed(parser.parseOptionalKeyword("into"));
  auto expect = [&](size_t count, bool orMore) -> LogicalResult {
    size_t found = parsed.operands.size();
    if (found == count || (orMore && found > count))
      return success();
    return parser.emitError(loc)
           << "expected " << count
           << (orMore ? " operands or more" : " operand(s)")
           << (parsed.isStructured ? "" : " before 'into'") << ", got "
           << found;
  };
  if (parsed.isStructured) {
    FunctionType type;
    if (failed(expect(1 + numValues, /*orMore=*/mayHaveMask)) ||
        parser.parseOptionalAttrDict(state.attributes) ||
        parser.parseColonType(type) ||
        parser.resolveOperands(parsed.operands, type.getInputs(), loc,
                               state.operands))
      return failure();
    state.addTypes(type.getResults());
    return parsed;
  }
  OpAsmParser::UnresolvedOperand ptr;
  SmallVector<Type> types;
  tt::PointerType ptrType;
  Type offsetType, resultType;
  if (failed(expect(numValues, /*orMore=*/false)) || parser.parseOperand(ptr) ||
      parser.parseLSquare() ||
      parser.parseOperand(parsed.offset.emplace_back()) ||
      parser.parseRSquare())
    return failure();
  if (mayHaveMask && succeeded(parser.parseOptionalKeyword("mask")) &&
      (parser.parseEqual() || parser.parseOperand(parsed.mask.emplace_back())))
    return failure();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.parseTypeList(types) || parser.parseKeyword("into") ||
      parser.parseLParen() || parser.parseCustomTypeWithFallback(ptrType) ||
      parser.parseComma() || parser.parseType(offsetType) ||
      parser.parseRParen() || parser.parseArrow() ||
      parser.parseType(resultType) ||
      parser.resolveOperand(ptr, ptrType, state.operands) ||
      parser.resolveOperands(parsed.operands, types, loc, state.operands) ||
      parser.resolveOperands(parsed.offset, offsetType, state.operands))
    return failure();
  state.addTypes(resultType);
  if (parsed.mask.empty())
    return parsed;
  if (!isa<RankedTensorType>(offsetType) && !offsetType.isIntOrIndex())
    return parser.emitError(loc)
           << "expected an offset of integers, got " << offsetType;
  if (parser.resolveOperands(parsed.mask, tt::getI1SameShape(offsetType),
                             state.operands))
    return failure();
  return parsed;
}

/// Prints everything after the words. `values` are those of the operation,
/// `elided` the attributes that the words are.
static void printAccess(OpAsmPrinter &printer, Operation *op, Value ptr,
                        ValueRange values, Value offset, Value mask,
                        ArrayRef<StringRef> elided) {
  SmallVector<StringRef> hidden(elided);
  hidden.push_back(segmentsName);
  if (!offset) {
    printer << op->getOperands();
    printer.printOptionalAttrDict(op->getAttrs(), hidden);
    printer << " : ";
    printer.printFunctionalType(op);
    return;
  }
  hidden.push_back(maskDimsName);
  printer << values << " into " << ptr << "[" << offset << "]";
  if (mask)
    printer << " mask = " << mask;
  printer.printOptionalAttrDict(op->getAttrs(), hidden);
  printer << " : " << values.getTypes() << " into (";
  printer.printStrippedAttrOrType(cast<tt::PointerType>(ptr.getType()));
  printer << ", " << offset.getType() << ") -> " << op->getResult(0).getType();
}

ParseResult AtomicRMWOp::parse(OpAsmParser &parser, OperationState &state) {
  if (parseEnum<tt::RMWOp>(parser, state, "atomic_rmw_op",
                           tt::symbolizeRMWOp) ||
      parseEnum<tt::MemSemantic>(parser, state, "sem",
                                 tt::symbolizeMemSemantic) ||
      parseEnum<tt::MemSyncScope>(parser, state, "scope",
                                  tt::symbolizeMemSyncScope))
    return failure();
  FailureOr<Parsed> parsed =
      parseAccess(parser, state, /*numValues=*/1, /*mayHaveMask=*/true);
  if (failed(parsed))
    return failure();
  Builder &builder = parser.getBuilder();
  if (!state.attributes.get(maskDimsName))
    state.addAttribute(maskDimsName, builder.getDenseI64ArrayAttr({}));
  int32_t maskDims =
      parsed->isStructured ? int32_t(parsed->operands.size()) - 2 : 0;
  state.addAttribute(
      segmentsName,
      builder.getDenseI32ArrayAttr({1, 1, int32_t(parsed->offset.size()),
                                    int32_t(parsed->mask.size()), maskDims}));
  return success();
}

void AtomicRMWOp::print(OpAsmPrinter &printer) {
  printer << " " << tt::stringifyRMWOp(getAtomicRmwOp()) << ", "
          << tt::stringifyMemSemantic(getSem()) << ", "
          << tt::stringifyMemSyncScope(getScope()) << ", ";
  printAccess(printer, *this, getPtr(), getVal(), getOffset(), getMask(),
              {"atomic_rmw_op", "sem", "scope"});
}

ParseResult AtomicCASOp::parse(OpAsmParser &parser, OperationState &state) {
  if (parseEnum<tt::MemSemantic>(parser, state, "sem",
                                 tt::symbolizeMemSemantic) ||
      parseEnum<tt::MemSyncScope>(parser, state, "scope",
                                  tt::symbolizeMemSyncScope))
    return failure();
  return failure(failed(
      parseAccess(parser, state, /*numValues=*/2, /*mayHaveMask=*/false)));
}

void AtomicCASOp::print(OpAsmPrinter &printer) {
  printer << " " << tt::stringifyMemSemantic(getSem()) << ", "
          << tt::stringifyMemSyncScope(getScope()) << ", ";
  printAccess(printer, *this, getPtr(), {getCmp(), getVal()}, getOffset(),
              Value(), {"sem", "scope"});
}
