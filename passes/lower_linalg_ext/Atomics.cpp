// SPDX-License-Identifier: Apache-2.0
//
// Lowers linalg_ext's atomics on contiguous or strided elements to loops of
// atomics of memref and LLVM. These are acquire-release, which is at least as
// strong as every memory order of linalg_ext.

#include "Atomics.h"

#include "Arrays.h"
#include "Lowering.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::linalg_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// Returns the same bits as another type.
static Value castBits(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  if (value.getType() == type)
    return value;
  return arith::BitcastOp::create(builder, loc, type, value);
}

/// Returns the address of an element.
static Value addressOf(OpBuilder &builder, Location loc, Value memory,
                       ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memory);
  Value distance = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(indices, metadata.getStrides())) {
    Value step = arith::MulIOp::create(builder, loc, index, stride);
    distance = arith::AddIOp::create(builder, loc, distance, step);
  }
  Type i64 = builder.getI64Type();
  distance = arith::IndexCastOp::create(builder, loc, i64, distance);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory);
  start = arith::IndexCastOp::create(builder, loc, i64, start);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(),
                                                type.getMemorySpaceAsInt());
  Value pointer = LLVM::IntToPtrOp::create(builder, loc, pointerType, start);
  return LLVM::GEPOp::create(builder, loc, pointerType, type.getElementType(),
                             pointer, distance);
}

/// Returns a function of the module that contains LLVM's exchange of integers
/// of one width. MLIR's passes that free buffers refuse a function with an
/// operation whose memory effects they do not know, but accept a call.
static LLVM::LLVMFuncOp declareExchange(OpBuilder &builder, Location loc,
                                        ModuleOp module,
                                        LLVM::LLVMPointerType pointer,
                                        Type bits) {
  std::string name = "triton_ext_compare_and_swap_" +
                     std::to_string(bits.getIntOrFloatBitWidth());
  if (unsigned space = pointer.getAddressSpace())
    name += "_" + std::to_string(space);
  if (auto present = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return present;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(bits, {pointer, bits, bits});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                           LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  Value pair = LLVM::AtomicCmpXchgOp::create(
      builder, loc, function.getArgument(0), function.getArgument(1),
      function.getArgument(2), LLVM::AtomicOrdering::acq_rel,
      LLVM::AtomicOrdering::acquire);
  Value old = LLVM::ExtractValueOp::create(builder, loc, pair, 0);
  LLVM::ReturnOp::create(builder, loc, old);
  return function;
}

/// Calls LLVM's compare-and-exchange. memref has only generic_atomic_rmw, which
/// is a loop.
Value mlir::triton_ext::lower_linalg_ext::exchangeIfSame(
    OpBuilder &builder, Location loc, Value memory, ValueRange indices,
    Value expected, Value value) {
  Type element = expected.getType();
  Type bits = builder.getIntegerType(element.getIntOrFloatBitWidth());
  Value address = addressOf(builder, loc, memory, indices);
  // The loop around this place may not be in the module yet.
  auto module = memory.getParentRegion()->getParentOfType<ModuleOp>();
  LLVM::LLVMFuncOp function =
      declareExchange(builder, loc, module,
                      cast<LLVM::LLVMPointerType>(address.getType()), bits);
  Values operands{address, castBits(builder, loc, expected, bits),
                  castBits(builder, loc, value, bits)};
  Value old =
      LLVM::CallOp::create(builder, loc, function, operands).getResult();
  return castBits(builder, loc, old, element);
}

Value mlir::triton_ext::lower_linalg_ext::memoryToChange(OpBuilder &builder,
                                                         Location loc,
                                                         Value memory) {
  Value found = memoryOf(memory);
  return isa<MemRefType>(found.getType()) ? found
                                          : copyOf(builder, loc, memory);
}

void mlir::triton_ext::lower_linalg_ext::replaceAtomic(Operation *op,
                                                       Value memory,
                                                       Value changed,
                                                       ValueRange old,
                                                       RewriterBase &rewriter) {
  Values results;
  bool givesOld = isa<RankedTensorType>(op->getOperands().back().getType());
  if (op->getNumResults() == (givesOld ? 2 : 1)) {
    Location loc = op->getLoc();
    // From here on, other operations may write to the memory.
    Value now =
        memoryOf(memory) == changed ? copyOf(rewriter, loc, changed) : changed;
    results.push_back(bufferization::ToTensorOp::create(
        rewriter, loc, memory.getType(), now, /*restrict=*/true,
        /*writable=*/true));
  }
  if (givesOld)
    llvm::append_range(results, old);
  rewriter.replaceOp(op, results);
}

namespace {

struct AtomicRMWPattern : OpRewritePattern<AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    arith::AtomicRMWKind kind = *arith::symbolizeAtomicRMWKind(op.getKind());
    Value memory = memoryToChange(rewriter, op.getLoc(), op.getMemory());
    Values old =
        loopNest(rewriter, op.getLoc(), sizesOf(rewriter, op.getLoc(), memory),
                 op.getInit(),
                 [&](OpBuilder &builder, Location loc, ValueRange where,
                     ValueRange array) -> Values {
                   Value value = loadFrom(builder, loc, op.getValue(), where);
                   Value old = memref::AtomicRMWOp::create(
                       builder, loc, kind, value, memory, where);
                   return {storeInto(builder, loc, old, array.front(), where)};
                 });
    replaceAtomic(op, op.getMemory(), memory, old, rewriter);
    return success();
  }
};

struct AtomicCASPattern : OpRewritePattern<AtomicCASOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicCASOp op,
                                PatternRewriter &rewriter) const override {
    Value memory = memoryToChange(rewriter, op.getLoc(), op.getMemory());
    Values results =
        loopNest(rewriter, op.getLoc(), sizesOf(rewriter, op.getLoc(), memory),
                 op.getInit(),
                 [&](OpBuilder &builder, Location loc, ValueRange where,
                     ValueRange array) -> Values {
                   Value old = exchangeIfSame(
                       builder, loc, memory, where,
                       loadFrom(builder, loc, op.getExpected(), where),
                       loadFrom(builder, loc, op.getValue(), where));
                   return {storeInto(builder, loc, old, array.front(), where)};
                 });
    replaceAtomic(op, op.getMemory(), memory, results, rewriter);
    return success();
  }
};

} // namespace

void mlir::triton_ext::lower_linalg_ext::populateAtomicPatterns(
    RewritePatternSet &patterns) {
  patterns.add<AtomicCASPattern, AtomicRMWPattern>(patterns.getContext());
}
