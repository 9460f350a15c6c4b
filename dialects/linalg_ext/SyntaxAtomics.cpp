// SPDX-License-Identifier: Apache-2.0
//
// Parsers and printers of atomics. The memory is the first of the outs. But a
// tensor whose new value the atomic does not return is the first of the inputs.

#include "Syntax.h"

#include "Clauses.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// Parses a word into a string attribute.
static ParseResult parseWordInto(OpAsmParser &parser, OperationState &result,
                                 StringRef name) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  // triton-linalg writes `xchg` for the kind that memref calls `assign`.
  if (name == "kind" && word == "xchg")
    word = "assign";
  result.addAttribute(name, parser.getBuilder().getStringAttr(word));
  return success();
}

/// Parses the operands and adds them as inputs, memory and init, in this order.
/// `counts` are the possible numbers of inputs, without the memory. The memory
/// is the first of the outs or, if `memoryMayBeInput` and there is only one
/// out, the first of the inputs.
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

/// Prints the attributes `words`, the inputs, the memory and the init. The last
/// two operands are the memory and the init.
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

/// Returns whether the memory of a compare-and-swap is printed as an input. A
/// compare-and-swap does not return the new value of a tensor, so a tensor is
/// not one of its outs.
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

/// triton-linalg has the same order of operands, with the memory first.
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
