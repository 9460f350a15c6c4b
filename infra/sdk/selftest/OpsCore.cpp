// SPDX-License-Identifier: Apache-2.0
//
// The dialects of ordinary code: arith, math, scf, cf, func and ub.

#include "Dialects.h"
#include "Fields.h"
#include "OpTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace triton_ext::selftest;

namespace triton_ext::selftest {
SAMPLE(ub::PoisonAttrInterface, "#ub.poison");
} // namespace triton_ext::selftest

void triton_ext::selftest::loadCore(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, math::MathDialect, scf::SCFDialect,
                      ub::UBDialect>();
}

static Part registered(Phase::Look, [](Report &report) {
  Context context(loadCore);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/SCF/IR/SCFOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/Func/IR/FuncOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/UB/IR/UBOps.cpp.inc"
      >(report, context);
});

static Part fields(Phase::Write, [](Report &report) {
  Context context(loadCore);
  FIELDS(report, context, arith::AddFOp, Fastmath, Roundingmode)
  FIELDS(report, context, arith::AddIOp, OverflowFlags)
  FIELDS(report, context, arith::CmpFOp, Predicate, Fastmath)
  FIELDS(report, context, arith::CmpIOp, Predicate)
  FIELDS(report, context, arith::ConstantOp, Value)
  FIELDS(report, context, arith::ConvertFOp, Roundingmode, Fastmath)
  FIELDS(report, context, arith::DivFOp, Fastmath, Roundingmode)
  FIELDS(report, context, arith::DivSIOp, IsExact)
  FIELDS(report, context, arith::DivUIOp, IsExact)
  FIELDS(report, context, arith::ExtFOp, Fastmath)
  FIELDS(report, context, arith::ExtUIOp, NonNeg)
  FIELDS(report, context, arith::FlushDenormalsOp, Fastmath)
  FIELDS(report, context, arith::IndexCastUIOp, NonNeg)
  FIELDS(report, context, arith::MaxNumFOp, Fastmath)
  FIELDS(report, context, arith::MaximumFOp, Fastmath)
  FIELDS(report, context, arith::MinNumFOp, Fastmath)
  FIELDS(report, context, arith::MinimumFOp, Fastmath)
  FIELDS(report, context, arith::MulFOp, Fastmath, Roundingmode)
  FIELDS(report, context, arith::MulIOp, OverflowFlags)
  FIELDS(report, context, arith::NegFOp, Fastmath)
  FIELDS(report, context, arith::RemFOp, Fastmath)
  FIELDS(report, context, arith::ScalingExtFOp, Fastmath)
  FIELDS(report, context, arith::ScalingTruncFOp, Roundingmode, Fastmath)
  FIELDS(report, context, arith::ShLIOp, OverflowFlags)
  FIELDS(report, context, arith::ShRSIOp, IsExact)
  FIELDS(report, context, arith::ShRUIOp, IsExact)
  FIELDS(report, context, arith::SubFOp, Fastmath, Roundingmode)
  FIELDS(report, context, arith::SubIOp, OverflowFlags)
  FIELDS(report, context, arith::TruncFOp, Roundingmode, Fastmath)
  FIELDS(report, context, arith::TruncIOp, OverflowFlags)
  FIELDS(report, context, arith::UIToFPOp, NonNeg)
  FIELDS(report, context, math::AbsFOp, Fastmath)
  FIELDS(report, context, math::Exp2Op, Fastmath)
  FIELDS(report, context, math::FmaOp, Fastmath, Roundingmode)
  FIELDS(report, context, math::SqrtOp, Fastmath)
  FIELDS(report, context, scf::ExecuteRegionOp, NoInline)
  FIELDS(report, context, scf::ForOp, UnsignedCmp)
  FIELDS(report, context, scf::ForallOp, StaticLowerBound, StaticUpperBound,
         StaticStep, Mapping)
  FIELDS(report, context, scf::IndexSwitchOp, Cases)
  FIELDS(report, context, cf::AssertOp, Msg)
  FIELDS(report, context, cf::CondBranchOp, BranchWeights)
  FIELDS(report, context, cf::SwitchOp, CaseValues, CaseOperandSegments)
  FIELDS(report, context, func::CallIndirectOp, ArgAttrs, ResAttrs)
  FIELDS(report, context, func::CallOp, Callee, ArgAttrs, ResAttrs, NoInline)
  FIELDS(report, context, func::ConstantOp, Value)
  FIELDS(report, context, func::FuncOp, SymName, FunctionType, SymVisibility,
         ArgAttrs, ResAttrs, NoInline)
  FIELDS(report, context, ub::PoisonOp, Value)
});
