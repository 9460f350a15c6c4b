// SPDX-License-Identifier: Apache-2.0
//
// Syntax, verifier, effects and folder of the dialect `ttx`.

#include "Ttx.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include "Ttx.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::ttx;

//===----------------------------------------------------------------------===//
// Syntax: {ATTRIBUTES} ins(OPERANDS : TYPES) outs(OPERANDS : TYPES) -> TYPES
//===----------------------------------------------------------------------===//

static ParseResult parseOperands(OpAsmParser &parser, StringRef keyword,
                                 OperationState &state, int32_t &count) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc;
  if (parser.parseKeyword(keyword) || parser.parseLParen() ||
      parser.getCurrentLocation(&loc) || parser.parseOperandList(operands) ||
      parser.parseColonTypeList(types) || parser.parseRParen())
    return failure();
  count = int32_t(operands.size());
  return parser.resolveOperands(operands, types, loc, state.operands);
}

ParseResult CumSumOp::parse(OpAsmParser &parser, OperationState &state) {
  int32_t inputs = 0, outputs = 0;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parseOperands(parser, "ins", state, inputs) ||
      parseOperands(parser, "outs", state, outputs) ||
      parser.parseOptionalArrowTypeList(state.types))
    return failure();
  // Triton-shared writes it among the attributes; it follows from the operands.
  state.attributes.set(
      getOperandSegmentSizesAttrName(state.name),
      parser.getBuilder().getDenseI32ArrayAttr({inputs, outputs}));
  return success();
}

void CumSumOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " ins(" << getInputs() << " : " << getInputs().getTypes()
          << ") outs(" << getOutputs() << " : " << getOutputs().getTypes()
          << ")";
  printer.printOptionalArrowTypeList(getResultTypes());
}

//===----------------------------------------------------------------------===//
// Verifier, effects and folder
//===----------------------------------------------------------------------===//

LogicalResult CumSumOp::verify() {
  if (getInputs().size() != 1 || getOutputs().size() != 1)
    return emitOpError() << "expected one input and one output, got "
                         << getInputs().size() << " and "
                         << getOutputs().size();
  auto input = cast<ShapedType>(getInput().getType());
  auto output = cast<ShapedType>(getOutput().getType());
  if (failed(verifyCompatibleShape(input, output)))
    return emitOpError() << "expected an output of the input's shape, got "
                         << input << " and " << output;
  if (input.getElementType() != output.getElementType() ||
      !input.getElementType().isIntOrFloat())
    return emitOpError()
           << "expected elements of one type of integers or floats, got "
           << input.getElementType() << " and " << output.getElementType();
  if (getAxis() >= input.getRank())
    return emitOpError() << "expected an axis below " << input.getRank()
                         << ", got " << getAxis();
  return success();
}

void CumSumOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

/// A sum of one element, or of zeros, is the input. So is one of negative
/// zeros, because -0.0 + -0.0 is -0.0.
LogicalResult CumSumOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  if (getNumResults() != 1 || getInput().getType() != getResultTypes().front())
    return failure();
  auto type = cast<ShapedType>(getInput().getType());
  if (type.getDimSize(getAxis()) != 1 && !matchPattern(getInput(), m_Zero()) &&
      !matchPattern(getInput(), m_AnyZeroFloat()))
    return failure();
  results.push_back(getInput());
  return success();
}
