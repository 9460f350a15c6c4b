// SPDX-License-Identifier: Apache-2.0
//
// Triton's own dialects: tt, ttg, ttng and gluon. The wheel ships no op lists
// (.cpp.inc), so the ops are named here.

#include "Dialects.h"
#include "Fields.h"
#include "OpTable.h"

#include "triton/Dialect/Gluon/IR/Dialect.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "triton/Dialect/TritonNvidiaGPU/IR/Dialect.h"

using namespace mlir;
using namespace triton_ext::selftest;
namespace tt = mlir::triton;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace triton_ext::selftest {
SAMPLE(tt::PropagateNanAttr, "65535 : i32"); // 1 is not a case of this enum
} // namespace triton_ext::selftest

void triton_ext::selftest::loadTriton(MLIRContext &context) {
  context.loadDialect<tt::TritonDialect, ttg::TritonGPUDialect,
                      ttng::TritonNvidiaGPUDialect, tt::gluon::GluonDialect>();
}

static Part registered(Phase::Look, [](Report &report) {
  Context context(loadTriton);
  checkOps<
      tt::CallOp, tt::FuncOp, tt::ReturnOp, tt::AddPtrOp, tt::ApproxDivFOp,
      tt::AssertOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicPollOp,
      tt::AtomicRMWOp, tt::AtomicStoreOp, tt::BitcastOp, tt::BroadcastOp,
      tt::CatOp, tt::ClampFOp, tt::DescriptorGatherOp, tt::DescriptorLoadOp,
      tt::DescriptorReduceOp, tt::DescriptorScatterOp, tt::DescriptorStoreOp,
      tt::DotOp, tt::DotScaledOp, tt::ElementwiseInlineAsmOp, tt::ExpandDimsOp,
      tt::ExternElementwiseOp, tt::FpToFpOp, tt::GatherOp, tt::GetNumProgramsOp,
      tt::GetProgramIdOp, tt::GridDependencyLaunchDependentsOp,
      tt::GridDependencyWaitOp, tt::HistogramOp, tt::IntToPtrOp, tt::JoinOp,
      tt::LoadOp, tt::MakeRangeOp, tt::MakeTensorDescOp, tt::MapElementwiseOp,
      tt::MapElementwiseReturnOp, tt::MulhiUIOp, tt::PreciseDivFOp,
      tt::PreciseSqrtOp, tt::PrintOp, tt::PtrToIntOp, tt::ReduceOp,
      tt::ReduceReturnOp, tt::ReshapeOp, tt::ScanOp, tt::ScanReturnOp,
      tt::SplatOp, tt::SplitOp, tt::StoreOp, tt::TransOp, tt::UnsplatOp>(
      report, context);
  checkOps<
      ttg::AsyncCommitGroupOp, ttg::AsyncCopyGlobalToLocalOp, ttg::AsyncWaitOp,
      ttg::BarrierOp, ttg::ConvertLayoutOp, ttg::Fp4ToFpOp,
      ttg::GlobalScratchAllocOp, ttg::InlineAsmOp, ttg::LocalAllocOp,
      ttg::LocalAtomicScatterRMWOp, ttg::LocalDeallocOp, ttg::LocalGatherOp,
      ttg::LocalLoadOp, ttg::LocalScatterOp, ttg::LocalStoreOp, ttg::MaskOp,
      ttg::MaskReturnOp, ttg::MemDescIndexOp, ttg::MemDescReinterpretOp,
      ttg::MemDescReshapeOp, ttg::MemDescSubsliceOp, ttg::MemDescTransOp,
      ttg::PredicateStageOp, ttg::WarpIdOp, ttg::WarpReturnOp,
      ttg::WarpSpecializeOp, ttg::WarpSpecializePartitionsOp, ttg::WarpYieldOp>(
      report, context);
  checkOps<ttng::ArriveBarrierOp, ttng::AsyncCopyMbarrierArriveOp,
           ttng::AsyncSharedStoreOp, ttng::AsyncTMACopyGlobalToLocalOp,
           ttng::AsyncTMACopyLocalToGlobalOp, ttng::AsyncTMAGatherOp,
           ttng::AsyncTMAReduceOp, ttng::AsyncTMAScatterOp,
           ttng::BarrierExpectOp, ttng::CLCGetProgramIdOp,
           ttng::CLCIsCanceledOp, ttng::CLCLoadResultOp, ttng::CLCTryCancelOp,
           ttng::CLCTryCancelSyncOp, ttng::ClusterBarrierOp,
           ttng::FenceAsyncSharedOp, ttng::FenceMBarrierInitReleaseClusterOp,
           ttng::InitBarrierOp, ttng::InvalBarrierOp, ttng::PackedArithOp,
           ttng::ReinterpretTensorDescOp, ttng::TCGen5CommitOp,
           ttng::TCGen5MMAOp, ttng::TCGen5MMAScaledOp, ttng::TMAStoreWaitOp,
           ttng::TMEMAllocOp, ttng::TMEMCopyOp, ttng::TMEMLoadOp,
           ttng::TMEMStoreOp, ttng::TMEMSubSliceOp, ttng::TMEMWaitOp,
           ttng::TensormapCreateOp, ttng::TensormapFenceproxyAcquireOp,
           ttng::WaitBarrierOp, ttng::WarpGroupDotOp, ttng::WarpGroupDotWaitOp>(
      report, context);
  checkOps<tt::gluon::SetAutoLayoutOp>(report, context);
});

static Part fields(Phase::Write, [](Report &report) {
  Context context(loadTriton);
  FIELDS(report, context, tt::CallOp, Callee, ArgAttrs, ResAttrs)
  FIELDS(report, context, tt::FuncOp, SymName, FunctionType, SymVisibility,
         ArgAttrs, ResAttrs)
  FIELDS(report, context, tt::AssertOp, Message)
  FIELDS(report, context, tt::AtomicCASOp, Sem, Scope)
  FIELDS(report, context, tt::AtomicLoadOp, Sem, Scope)
  FIELDS(report, context, tt::AtomicPollOp, Sem, Scope)
  FIELDS(report, context, tt::AtomicRMWOp, AtomicRmwOp, Sem, Scope)
  FIELDS(report, context, tt::AtomicStoreOp, Sem, Scope)
  FIELDS(report, context, tt::ClampFOp, PropagateNan)
  FIELDS(report, context, tt::DescriptorLoadOp, CachePolicy)
  FIELDS(report, context, tt::DescriptorReduceOp, Kind)
  FIELDS(report, context, tt::DotOp, InputPrecision, MaxNumImpreciseAcc)
  FIELDS(report, context, tt::DotScaledOp, AElemType, BElemType, FastMath,
         LhsKPack, RhsKPack)
  FIELDS(report, context, tt::ElementwiseInlineAsmOp, AsmString, Constraints,
         Pure, PackedElement)
  FIELDS(report, context, tt::ExpandDimsOp, Axis)
  FIELDS(report, context, tt::ExternElementwiseOp, Libname, Libpath, Symbol,
         Pure)
  FIELDS(report, context, tt::FpToFpOp, Rounding)
  FIELDS(report, context, tt::GatherOp, Axis, EfficientLayout)
  FIELDS(report, context, tt::GetNumProgramsOp, Axis)
  FIELDS(report, context, tt::GetProgramIdOp, Axis)
  FIELDS(report, context, tt::LoadOp, CachePolicy, IsVolatile)
  FIELDS(report, context, tt::MakeRangeOp, Start, End)
  FIELDS(report, context, tt::MakeTensorDescOp, Padding)
  FIELDS(report, context, tt::MapElementwiseOp, Pack)
  FIELDS(report, context, tt::PrintOp, Prefix, Hex, IsSigned)
  FIELDS(report, context, tt::ReduceOp, Axis)
  FIELDS(report, context, tt::ReshapeOp, AllowReorder, EfficientLayout)
  FIELDS(report, context, tt::ScanOp, Axis, Reverse)
  FIELDS(report, context, tt::StoreOp, CachePolicy, IgnoreCta)
  FIELDS(report, context, tt::TransOp, Order)
  FIELDS(report, context, ttg::AsyncCopyGlobalToLocalOp, CachePolicy,
         IsVolatile, Contiguity)
  FIELDS(report, context, ttg::AsyncWaitOp, Num)
  FIELDS(report, context, ttg::BarrierOp, AddrSpace)
  FIELDS(report, context, ttg::ConvertLayoutOp, ForceWarpShuffle)
  FIELDS(report, context, ttg::Fp4ToFpOp, Axis)
  FIELDS(report, context, ttg::GlobalScratchAllocOp, Nbytes, Alignment,
         ThirdPartyAllocation, SharedClusterState)
  FIELDS(report, context, ttg::InlineAsmOp, AsmString, Constraints, Pure)
  FIELDS(report, context, ttg::LocalAllocOp, Alignment)
  FIELDS(report, context, ttg::LocalAtomicScatterRMWOp, AtomicRmwOp, Axis)
  FIELDS(report, context, ttg::LocalGatherOp, Axis)
  FIELDS(report, context, ttg::LocalScatterOp, Axis)
  FIELDS(report, context, ttg::MemDescSubsliceOp, Offsets)
  FIELDS(report, context, ttg::MemDescTransOp, Order)
  FIELDS(report, context, ttg::PredicateStageOp, MaxStage, Stage)
  FIELDS(report, context, ttg::WarpIdOp, OmitUniformHint)
  FIELDS(report, context, ttg::WarpSpecializeOp, PartitionNumWarps,
         WarpGroupStartIds, RequestedRegisters, ActualRegisters)
  FIELDS(report, context, ttng::ArriveBarrierOp, Count, FromCTA, MulticastCTA)
  FIELDS(report, context, ttng::AsyncCopyMbarrierArriveOp, NoIncrement)
  FIELDS(report, context, ttng::AsyncTMACopyGlobalToLocalOp, Multicast,
         CachePolicy, IsVolatile)
  FIELDS(report, context, ttng::AsyncTMACopyLocalToGlobalOp, CachePolicy)
  FIELDS(report, context, ttng::AsyncTMAGatherOp, Multicast, CachePolicy)
  FIELDS(report, context, ttng::AsyncTMAReduceOp, Kind)
  FIELDS(report, context, ttng::AsyncTMAScatterOp, CachePolicy)
  FIELDS(report, context, ttng::BarrierExpectOp, Size, FromCTA)
  FIELDS(report, context, ttng::CLCGetProgramIdOp, Dim)
  FIELDS(report, context, ttng::ClusterBarrierOp, Relaxed)
  FIELDS(report, context, ttng::FenceAsyncSharedOp, BCluster)
  FIELDS(report, context, ttng::InitBarrierOp, Count)
  FIELDS(report, context, ttng::PackedArithOp, OpKind)
  FIELDS(report, context, ttng::TCGen5MMAOp, IsAsync, TwoCtas, Multicast,
         IsUnsigned)
  FIELDS(report, context, ttng::TCGen5MMAScaledOp, AType, BType, TwoCtas,
         Multicast, IsAsync)
  FIELDS(report, context, ttng::TMAStoreWaitOp, Pendings, ReadOnly)
  FIELDS(report, context, ttng::TMEMLoadOp, RedOp, Abs, NaN)
  FIELDS(report, context, ttng::TMEMSubSliceOp, Offset, Dim)
  FIELDS(report, context, ttng::TMEMWaitOp, Kind)
  FIELDS(report, context, ttng::TensormapCreateOp, ElemType, InterleaveLayout,
         SwizzleMode, FillMode)
  FIELDS(report, context, ttng::WarpGroupDotOp, InputPrecision,
         MaxNumImpreciseAcc, IsAsync)
  FIELDS(report, context, ttng::WarpGroupDotWaitOp, Pendings, WarpGroupLocal)
});
