// SPDX-License-Identifier: Apache-2.0
//
// The text of atomics: memory is one of the outs or, where it is a tensor that
// is not given anew, the first of the inputs.

#include "Syntax.h"

#include "Clauses.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// A word as an attribute.
static ParseResult parseWordInto(OpAsmParser &parser, OperationState &result,
                                 StringRef name) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  // What triton-linalg calls an exchange, memref calls an assignment.
  if (name == "kind" && word == "xchg")
    word = "assign";
  result.addAttribute(name, parser.getBuilder().getStringAttr(word));
  return success();
}

/// Inputs, memory and init, in this order. `counts`: how many inputs there may
/// be besides the memory, which is one of the outs or, if `memoryMayBeInput`,
/// the first of the inputs.
static ParseResult parseAtomic(OpAsmParser &parser, OperationState &result,
                               ArrayRef<size_t> counts, bool memoryMayBeInput) {
  Clauses clauses{parser, result, {}};
  if (clauses.parse())
    return failure();
  bool memoryIsInput = memoryMayBeInput && clauses.outs.size() == 1;
  SmallVector<size_t> wanted(counts);
  if (memoryIsInput)
    for (size_t &count : wanted)
      ++count;
  if (clauses.check("ins", clauses.ins, clauses.insLoc, wanted) ||
      clauses.check("outs", clauses.outs, clauses.outsLoc,
                    memoryIsInput ? 1 : 2))
    return failure();
  if (memoryIsInput && clauses.inTypes.size() == clauses.ins.size()) {
    clauses.outs.insert(clauses.outs.begin(), clauses.ins.front());
    clauses.outTypes.insert(clauses.outTypes.begin(), clauses.inTypes.front());
    clauses.ins.erase(clauses.ins.begin());
    clauses.inTypes.erase(clauses.inTypes.begin());
  }
  return failure(
      clauses.resolve(clauses.ins, clauses.inTypes, clauses.insLoc) ||
      clauses.resolve(clauses.outs, clauses.outTypes, clauses.outsLoc) ||
      clauses.addResults());
}

/// Words, inputs, memory and init; the last two are the last operands.
static void printAtomic(OpAsmPrinter &printer, Operation *op,
                        ArrayRef<StringRef> words, bool memoryIsInput) {
  for (StringRef word : words) {
    printer << ' ';
    printer.printKeywordOrString(op->getAttrOfType<StringAttr>(word));
  }
  SmallVector<Value> inputs(op->getOperands().drop_back(2));
  SmallVector<Value> inits(op->getOperands().take_back(2));
  if (memoryIsInput) {
    inputs.insert(inputs.begin(), inits.front());
    inits.erase(inits.begin());
  }
  printOperands(printer, "ins", inputs);
  printOperands(printer, "outs", inits);
  printAttributes(printer, op, words);
  printEnd(printer, op);
}

/// Memory that is a tensor is not given anew by an exchange.
static bool isMemoryInput(Operation *op) {
  return isa<RankedTensorType>(
      op->getOperand(op->getNumOperands() - 2).getType());
}

ParseResult
mlir::triton_ext::linalg_ext::parseAtomicRMW(OpAsmParser &parser,
                                             OperationState &result) {
  return failure(parseWordInto(parser, result, "kind") ||
                 parseWordInto(parser, result, "order") ||
                 parseAtomic(parser, result, 1, /*memoryMayBeInput=*/false));
}

ParseResult
mlir::triton_ext::linalg_ext::parseGatherAtomicRMW(OpAsmParser &parser,
                                                   OperationState &result) {
  return failure(
      parseWordInto(parser, result, "kind") ||
      parseWordInto(parser, result, "order") ||
      parseAtomic(parser, result, {2, 3}, /*memoryMayBeInput=*/false));
}

ParseResult
mlir::triton_ext::linalg_ext::parseAtomicCAS(OpAsmParser &parser,
                                             OperationState &result) {
  return failure(parseWordInto(parser, result, "order") ||
                 parseAtomic(parser, result, 2, /*memoryMayBeInput=*/true));
}

/// triton-linalg's order of operands is ours, behind the memory.
ParseResult
mlir::triton_ext::linalg_ext::parseGatherAtomicCAS(OpAsmParser &parser,
                                                   OperationState &result) {
  return failure(parseWordInto(parser, result, "order") ||
                 parseAtomic(parser, result, 3, /*memoryMayBeInput=*/true));
}

void mlir::triton_ext::linalg_ext::printAtomicRMW(OpAsmPrinter &printer,
                                                  Operation *op) {
  printAtomic(printer, op, {"kind", "order"}, /*memoryIsInput=*/false);
}

void mlir::triton_ext::linalg_ext::printGatherAtomicRMW(OpAsmPrinter &printer,
                                                        Operation *op) {
  printAtomic(printer, op, {"kind", "order"}, /*memoryIsInput=*/false);
}

void mlir::triton_ext::linalg_ext::printAtomicCAS(OpAsmPrinter &printer,
                                                  Operation *op) {
  printAtomic(printer, op, {"order"}, isMemoryInput(op));
}

void mlir::triton_ext::linalg_ext::printGatherAtomicCAS(OpAsmPrinter &printer,
                                                        Operation *op) {
  printAtomic(printer, op, {"order"}, isMemoryInput(op));
}
