// SPDX-License-Identifier: Apache-2.0
//
// The plugin entry point of libTritonExtMLIR.so: registers the dialects that
// libtriton lacks. It also registers the interfaces that these dialects promise
// but that other libraries of MLIR implement, because MLIR aborts if a promised
// interface is used and missing. The dialects are LLVM's own sources, which
// `triton-ext sdk install --with linalg` builds unchanged, beside this file.

#include "triton_ext/Manifest.h"

#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/GPU/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"

using namespace mlir;

TRITON_EXT_MANIFEST(TRITON_EXT_MANIFEST_FIELDS)

template <typename DialectT> static void add(DialectRegistry *registry) {
  registry->insert<DialectT>();
}

/// Registers bufferization, and the interfaces that buffer deallocation needs:
/// dialects of libtriton promise them, but libtriton does not contain them.
static void addBufferization(DialectRegistry *registry) {
  registry->insert<bufferization::BufferizationDialect>();
  arith::registerBufferDeallocationOpInterfaceExternalModels(*registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(*registry);
  gpu::registerBufferDeallocationOpInterfaceExternalModels(*registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(*registry);
}

static void addComplex(DialectRegistry *registry) {
  registry->insert<complex::ComplexDialect>();
  registerConvertComplexToLLVMInterface(*registry);
}

static void addTensor(DialectRegistry *registry) {
  registry->insert<tensor::TensorDialect>();
  tensor::registerInferTypeOpInterfaceExternalModels(*registry);
  tensor::registerSubsetOpInterfaceExternalModels(*registry);
  tensor::registerTilingInterfaceExternalModels(*registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(*registry);
}

static void addLinalg(DialectRegistry *registry) {
  registry->insert<linalg::LinalgDialect>();
  linalg::registerSubsetOpInterfaceExternalModels(*registry);
  linalg::registerTilingInterfaceExternalModels(*registry);
  linalg::registerValueBoundsOpInterfaceExternalModels(*registry);
}

extern "C" __attribute__((visibility("default"))) triton::plugin::PluginInfo *
tritonGetPluginInfo() {
  static triton::plugin::DialectInfo dialects[] = {
      {"bufferization", "23.1.1", addBufferization},
      {"complex", "23.1.1", addComplex},
      {"linalg", "23.1.1", addLinalg},
      {"sparse_tensor", "23.1.1", add<sparse_tensor::SparseTensorDialect>},
      {"tensor", "23.1.1", addTensor},
  };
  static triton::plugin::PluginInfo info = {
      TRITON_PLUGIN_API_VERSION, "linalg", "23.1.1",
      /*passes=*/nullptr,        0,        dialects,      std::size(dialects),
      /*ops=*/nullptr,           0,        TRITON_VERSION};
  return &info;
}
