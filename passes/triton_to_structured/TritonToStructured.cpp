// SPDX-License-Identifier: Apache-2.0
//
// Turns accesses of tensors whose pointers and mask are structured into
// operations of tts. Leaves all others untouched, and the arithmetic on
// pointers in place.

#include "StructuredAccess.h"

#include "analysis/AxisInfo.h"
#include "carry_strides/CarryStrides.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "scalarize_induction/ScalarizeInduction.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"
#include "tts/Tts.h"

namespace mlir::triton_ext::triton_to_structured {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONTOSTRUCTUREDPASS
#include "TritonToStructured.h.inc"
} // namespace mlir::triton_ext::triton_to_structured

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::triton_to_structured;
namespace tt = mlir::triton;

namespace {
struct TritonToStructuredPass
    : triton_to_structured::impl::TritonToStructuredPassBase<
          TritonToStructuredPass> {
  using TritonToStructuredPassBase::TritonToStructuredPassBase;

  void runOnOperation() override;
};
} // namespace

/// The strides of the pointers of an access, if they are known.
using Strides = std::optional<SmallVector<int64_t>>;

static void structure(tt::LoadOp op, Forms forms, const Strides &strides,
                      OpBuilder &builder) {
  // A default that is not a splat has no form in tts.
  if (op.getIsVolatile() || (op.getOther() && !isSplat(op.getOther())))
    return;
  auto access = structureAccess(op.getPtr(), op.getMask(), /*isStore=*/false,
                                forms, strides, builder, op.getLoc());
  if (!access)
    return;
  Value other;
  if (op.getOther() && access->isMasked())
    other = getSplat(op.getOther(), builder);
  op.replaceAllUsesWith(tts::LoadOp::create(builder, op.getLoc(), access->ptr,
                                            access->maskDims, other,
                                            op.getCachePolicyAttr())
                            .getResult());
  op.erase();
}

static void structure(tt::StoreOp op, Forms forms, const Strides &strides,
                      OpBuilder &builder) {
  auto access = structureAccess(op.getPtr(), op.getMask(), /*isStore=*/true,
                                forms, strides, builder, op.getLoc());
  if (!access)
    return;
  tts::StoreOp::create(builder, op.getLoc(), access->ptr, op.getValue(),
                       access->maskDims, op.getCachePolicyAttr());
  op.erase();
}

static void structure(tt::AtomicRMWOp op, Forms forms, const Strides &strides,
                      OpBuilder &builder) {
  auto access = structureAccess(op.getPtr(), op.getMask(), /*isStore=*/false,
                                forms, strides, builder, op.getLoc());
  if (!access)
    return;
  SmallVector<int64_t> numbers;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(access->maskDims, values, numbers);
  op.replaceAllUsesWith(
      tts::AtomicRMWOp::create(builder, op.getLoc(), op.getType(),
                               op.getAtomicRmwOp(), access->ptr, op.getVal(),
                               /*offset=*/Value(), /*mask=*/Value(), values,
                               numbers, op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

static void structure(tt::AtomicCASOp op, Forms forms, const Strides &strides,
                      OpBuilder &builder) {
  auto access = structureAccess(op.getPtr(), Value(), /*isStore=*/false, forms,
                                strides, builder, op.getLoc());
  if (!access)
    return;
  op.replaceAllUsesWith(
      tts::AtomicCASOp::create(builder, op.getLoc(), op.getType(), access->ptr,
                               op.getCmp(), op.getVal(), /*offset=*/Value(),
                               op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

/// Returns whether anything in the module may wrap around.
static bool hasRemainders(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<arith::RemSIOp, arith::RemUIOp>(op) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

void TritonToStructuredPass::runOnOperation() {
  if (!skipPrepass || runPrepassOnly) {
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(scalarize_induction::createScalarizeInductionPass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(carry_strides::createCarryStridesPass());
    pm.addPass(createCanonicalizerPass());
    if (failed(runPipeline(pm, getOperation())))
      return signalPassFailure();
  }
  if (runPrepassOnly)
    return;
  Forms forms{modulo, gatherScatter, lowBounds, !useUnsafeMask};
  // The analysis of axes shows that a tile does not cross a modulus. It holds
  // until something changes, so its facts are taken out of it first.
  std::optional<analysis::AxisInfos> infos;
  if (hasRemainders(getOperation()))
    infos.emplace(getOperation());
  SmallVector<std::pair<Operation *, Strides>> accesses;
  getOperation().walk([&](Operation *op) {
    if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op))
      accesses.emplace_back(op,
                            infos ? infos->getPointerStrides(op->getOperand(0))
                                  : std::nullopt);
  });
  for (auto &[op, strides] : accesses) {
    OpBuilder builder(op);
    if (auto load = dyn_cast<tt::LoadOp>(op))
      structure(load, forms, strides, builder);
    else if (auto store = dyn_cast<tt::StoreOp>(op))
      structure(store, forms, strides, builder);
    else if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op); atomic && atomics)
      structure(atomic, forms, strides, builder);
    else if (auto exchange = dyn_cast<tt::AtomicCASOp>(op); exchange && atomics)
      structure(exchange, forms, strides, builder);
  }
}
