// SPDX-License-Identifier: Apache-2.0
//
// The dialects that address memory and vectors: memref, vector, affine; and
// gpu, which lowers Triton's own.

#include "Dialects.h"
#include "Fields.h"
#include "OpTable.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace triton_ext::selftest;

static void loadMemory(MLIRContext &context) {
  context.loadDialect<affine::AffineDialect, gpu::GPUDialect,
                      memref::MemRefDialect, vector::VectorDialect>();
}

static Part registered(Phase::Look, [](Report &report) {
  Context context(loadMemory);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/Affine/IR/AffineOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/GPU/IR/GPUOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/MemRef/IR/MemRefOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/Vector/IR/VectorOps.cpp.inc"
      >(report, context);
});

static Part fields(Phase::Write, [](Report &report) {
  Context context(loadMemory);
  FIELDS(report, context, affine::AffineApplyOp, Map)
  FIELDS(report, context, affine::AffineDelinearizeIndexOp, StaticBasis)
  FIELDS(report, context, affine::AffineDmaStartOp, SrcMap, DstMap, TagMap)
  FIELDS(report, context, affine::AffineDmaWaitOp, TagMap)
  FIELDS(report, context, affine::AffineForOp, LowerBoundMap, UpperBoundMap,
         Step)
  FIELDS(report, context, affine::AffineIfOp, Condition)
  FIELDS(report, context, affine::AffineLinearizeIndexOp, StaticBasis)
  FIELDS(report, context, affine::AffineLoadOp, Map)
  FIELDS(report, context, affine::AffineMaxOp, Map)
  FIELDS(report, context, affine::AffineMinOp, Map)
  FIELDS(report, context, affine::AffineParallelOp, Reductions, LowerBoundsMap,
         LowerBoundsGroups, UpperBoundsMap, UpperBoundsGroups, Steps)
  FIELDS(report, context, affine::AffinePrefetchOp, IsWrite, LocalityHint,
         IsDataCache, Map)
  FIELDS(report, context, affine::AffineStoreOp, Map)
  FIELDS(report, context, affine::AffineVectorLoadOp, Map)
  FIELDS(report, context, affine::AffineVectorStoreOp, Map)
  FIELDS(report, context, gpu::AllReduceOp, Op, Uniform)
  FIELDS(report, context, gpu::BarrierOp, AddressSpaces, Scope)
  FIELDS(report, context, gpu::BinaryOp, SymName, OffloadingHandler, Objects)
  FIELDS(report, context, gpu::BlockIdOp, Dimension, UpperBound)
  FIELDS(report, context, gpu::GPUFuncOp, FunctionType, ArgAttrs, ResAttrs,
         WorkgroupAttribAttrs, PrivateAttribAttrs, KnownBlockSize,
         KnownGridSize, KnownClusterSize, WorkgroupAttributions, Kernel)
  FIELDS(report, context, gpu::GPUModuleOp, SymName, Targets, OffloadingHandler)
  FIELDS(report, context, gpu::GridDimOp, Dimension, UpperBound)
  FIELDS(report, context, gpu::LaunchFuncOp, Kernel, Cooperative)
  FIELDS(report, context, gpu::LaunchOp, Cooperative, Module, Function,
         WorkgroupAttributions)
  FIELDS(report, context, gpu::PrintfOp, Format)
  FIELDS(report, context, gpu::ShuffleOp, Mode)
  FIELDS(report, context, gpu::SubgroupReduceOp, Op, Uniform, ClusterSize,
         ClusterStride)
  FIELDS(report, context, gpu::ThreadIdOp, Dimension, UpperBound)
  FIELDS(report, context, memref::AssumeAlignmentOp, Alignment)
  FIELDS(report, context, memref::AtomicRMWOp, Kind)
  FIELDS(report, context, memref::LoadOp, Nontemporal, Alignment, Invariant)
  FIELDS(report, context, memref::AllocOp, Alignment)
  FIELDS(report, context, memref::AllocaOp, Alignment)
  FIELDS(report, context, memref::CollapseShapeOp, Reassociation)
  FIELDS(report, context, memref::ExpandShapeOp, Reassociation,
         StaticOutputShape)
  FIELDS(report, context, memref::GetGlobalOp, Name)
  FIELDS(report, context, memref::GlobalOp, SymName, SymVisibility, Type,
         InitialValue, Constant, Alignment)
  FIELDS(report, context, memref::PrefetchOp, IsWrite, LocalityHint,
         IsDataCache)
  FIELDS(report, context, memref::ReallocOp, Alignment)
  FIELDS(report, context, memref::ReinterpretCastOp, StaticOffsets, StaticSizes,
         StaticStrides)
  FIELDS(report, context, memref::StoreOp, Nontemporal, Alignment)
  FIELDS(report, context, memref::TransposeOp, Permutation)
  FIELDS(report, context, memref::SubViewOp, StaticOffsets, StaticSizes,
         StaticStrides)
  FIELDS(report, context, vector::CompressStoreOp, Alignment)
  FIELDS(report, context, vector::ConstantMaskOp, MaskDimSizes)
  FIELDS(report, context, vector::ContractionOp, IndexingMaps, IteratorTypes,
         Kind, Fastmath)
  FIELDS(report, context, vector::ExpandLoadOp, Alignment)
  FIELDS(report, context, vector::ExtractOp, StaticPosition)
  FIELDS(report, context, vector::ExtractStridedSliceOp, Offsets, Sizes,
         Strides)
  FIELDS(report, context, vector::GatherOp, Alignment)
  FIELDS(report, context, vector::InsertOp, StaticPosition)
  FIELDS(report, context, vector::InsertStridedSliceOp, Offsets, Strides)
  FIELDS(report, context, vector::LoadOp, Nontemporal, Alignment)
  FIELDS(report, context, vector::MaskedLoadOp, Alignment)
  FIELDS(report, context, vector::MaskedStoreOp, Alignment)
  FIELDS(report, context, vector::MultiDimReductionOp, Kind, ReductionDims)
  FIELDS(report, context, vector::OuterProductOp, Kind)
  FIELDS(report, context, vector::PrintOp, Punctuation, StringLiteral)
  FIELDS(report, context, vector::ReductionOp, Kind, Fastmath)
  FIELDS(report, context, vector::ScalableExtractOp, Pos)
  FIELDS(report, context, vector::ScalableInsertOp, Pos)
  FIELDS(report, context, vector::ScanOp, Kind, ReductionDim, Inclusive)
  FIELDS(report, context, vector::ScatterOp, Alignment)
  FIELDS(report, context, vector::ShuffleOp, Mask)
  FIELDS(report, context, vector::StoreOp, Nontemporal, Alignment)
  FIELDS(report, context, vector::TransferReadOp, PermutationMap, InBounds)
  FIELDS(report, context, vector::TransferWriteOp, PermutationMap, InBounds)
  FIELDS(report, context, vector::TransposeOp, Permutation)
});
