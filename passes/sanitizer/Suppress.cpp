// SPDX-License-Identifier: Apache-2.0
//
// Masks lanes off that are out of bounds.

#include "Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

bool mlir::triton_ext::sanitizer::canSuppress(Operation *op) {
  return isa<tt::LoadOp, tt::StoreOp, tt::AtomicLoadOp, tt::AtomicStoreOp,
             tt::AtomicRMWOp>(op);
}

/// Gives an access a narrower mask.
static void setMask(Operation *op, Value mask, ImplicitLocOpBuilder &b) {
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    load.getMaskMutable().assign(mask);
    Type element = getElementTypeOrSelf(load.getType());
    if (!load.getOther() && element.isIntOrFloat())
      load.getOtherMutable().assign(
          arith::ConstantOp::create(b, b.getZeroAttr(load.getType())));
    return;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case<tt::StoreOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicRMWOp>(
          [&](auto access) { access.getMaskMutable().assign(mask); });
}

/// Masks the lanes off that are out of the storage. Without a branch: loads
/// whose mask a branch has computed are not pipelined.
void BoundsChecker::suppress(const MemoryAccess &access,
                             const Extents &extents) {
  ImplicitLocOpBuilder b = checker.before(access.op);
  Value address = addressOf(access.pointer, b);
  Value isKept = isInside(extents_.storagesAt(extents, b), address, address,
                          access.laneBytes, b);
  if (access.mask)
    isKept = arith::AndIOp::create(b, isKept, access.mask);
  setMask(access.op, isKept, b);
}

/// Returns the instruction that ends a program of `module`; empty if it has to
/// be an assertion. Triton does not pipeline loops with assertions.
static StringRef trapOf(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>("probe.target");
  if (target && target.getValue().starts_with("cuda:"))
    return "trap; mov.u32 $0, 0;";
  if (target && target.getValue().starts_with("hip:"))
    return "s_trap 2\nv_mov_b32 $0, 0";
  return "";
}

void BoundsChecker::trap(Value isWrong, ImplicitLocOpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  StringRef assembly = trapOf(checker.kernel->getParentOfType<ModuleOp>());
  if (assembly.empty()) {
    Value isFine = arith::XOrIOp::create(
        b, isWrong, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    tt::AssertOp::create(b, isFine,
                         b.getStringAttr("an access is out of bounds"));
    return;
  }
  auto branch = scf::IfOp::create(b, isWrong, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  bool isAMD = assembly.starts_with("s_");
  tt::ElementwiseInlineAsmOp::create(
      b, TypeRange{b.getI32Type()}, assembly, isAMD ? "=v" : "=r",
      /*pure=*/false, /*packed_element=*/1, ValueRange{});
}
