// SPDX-License-Identifier: Apache-2.0
//
// The dialects of the targets, NVVM and ROCDL: several hundred ops that differ
// from one LLVM to the next, so their registration is compared op by op.

#include "Dialects.h"
#include "OpTable.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace triton_ext::selftest;

static Part nvvm(Phase::Look, [](Report &report) {
  Context context(load<NVVM::NVVMDialect>);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/LLVMIR/NVVMOps.cpp.inc"
      >(report, context);
});

static Part rocdl(Phase::Look, [](Report &report) {
  Context context(load<ROCDL::ROCDLDialect>);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/LLVMIR/ROCDLOps.cpp.inc"
      >(report, context);
});
