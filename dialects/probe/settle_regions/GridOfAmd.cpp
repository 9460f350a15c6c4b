// SPDX-License-Identifier: Apache-2.0
//
// The size of the grid on a GPU of AMD, without the library of its compiler.

#include "GridOfAmd.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;

/// The function by which MLIR asks for the size, and the address spaces of
/// constants.
static constexpr StringLiteral function = "__ockl_get_num_groups";
static constexpr unsigned constants = 4;

void mlir::triton_ext::probe::defineGridOfAmd(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>(triton::gpu::AttrTargetName);
  bool hasScratch = module
                        .walk([](triton::gpu::GlobalScratchAllocOp) {
                          return WalkResult::interrupt();
                        })
                        .wasInterrupted();
  if (!target || !target.getValue().starts_with("hip:") || !hasScratch ||
      module.lookupSymbol(function))
    return;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), constants);
  auto helper = LLVM::LLVMFuncOp::create(
      b, function, LLVM::LLVMFunctionType::get(i64, {i32}),
      LLVM::Linkage::Internal);
  helper.setAlwaysInline(true);
  Block *body = helper.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  // The hidden arguments of a kernel begin with the sizes, since version 5 of
  // its format, which Triton asks for.
  Value sizes = LLVM::CallIntrinsicOp::create(
                    b, pointer, b.getStringAttr("llvm.amdgcn.implicitarg.ptr"),
                    ValueRange())
                    .getResult(0);
  Value at = LLVM::GEPOp::create(b, pointer, i32, sizes,
                                 ArrayRef<LLVM::GEPArg>{body->getArgument(0)});
  Value size = LLVM::LoadOp::create(b, i32, at, /*alignment=*/4);
  LLVM::ReturnOp::create(b, LLVM::ZExtOp::create(b, i64, size).getResult());
}
