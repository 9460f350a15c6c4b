// SPDX-License-Identifier: Apache-2.0
//
// Counts views and maps, through the C++ classes of their dialects.

#include "aux/Aux.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
namespace mlir::triton_ext::uses_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_USESLINALGPASS
#include "UsesLinalg.h.inc"
} // namespace mlir::triton_ext::uses_linalg
using namespace mlir;
namespace {
struct UsesLinalgPass
    : mlir::triton_ext::uses_linalg::impl::UsesLinalgPassBase<UsesLinalgPass> {
  using UsesLinalgPassBase::UsesLinalgPassBase;
  void runOnOperation() override {
    int views = 0, maps = 0;
    getOperation().walk([&](triton_ext::aux::ViewOp v) {
      ++views;
      (void)v.getMixedSizes();
    });
    getOperation().walk([&](linalg::MapOp m) {
      ++maps;
      (void)m.getNumDpsInputs();
    });
    Builder b(&getContext());
    getOperation()->setAttr("t.views", b.getI32IntegerAttr(views));
    getOperation()->setAttr("t.maps", b.getI32IntegerAttr(maps));
  }
};
} // namespace
