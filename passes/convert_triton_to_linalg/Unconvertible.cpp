// SPDX-License-Identifier: Apache-2.0
//
// Names the operations that cannot be converted, and why.

#include "Conversion.h"

#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/GpuDialects.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace tt = mlir::triton;

std::optional<StringRef>
mlir::triton_ext::convert_triton_to_linalg::whyNot(Operation *op) {
  using Why = std::optional<StringRef>;
  if (triton_ext::isForGpu(op) && !triton_ext::isBarrierOfThreads(op))
    return "it is for a GPU";
  if (!isa_and_nonnull<tt::TritonDialect>(op->getDialect()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Why>(op)
      .Case<tt::AddPtrOp, tt::ApproxDivFOp, tt::AssertOp, tt::AtomicCASOp,
            tt::AtomicLoadOp, tt::AtomicPollOp, tt::AtomicStoreOp,
            tt::AtomicRMWOp, tt::BitcastOp, tt::BroadcastOp, tt::CallOp,
            tt::CatOp, tt::ClampFOp, tt::DotOp, tt::ExpandDimsOp, tt::GatherOp,
            tt::GetNumProgramsOp, tt::GetProgramIdOp,
            tt::GridDependencyLaunchDependentsOp, tt::GridDependencyWaitOp,
            tt::HistogramOp, tt::IntToPtrOp, tt::JoinOp, tt::MakeRangeOp,
            tt::MapElementwiseReturnOp, tt::MulhiUIOp, tt::PreciseDivFOp,
            tt::PreciseSqrtOp, tt::PrintOp, tt::PtrToIntOp, tt::ReduceOp,
            tt::ReduceReturnOp, tt::ScanOp, tt::ReshapeOp, tt::ReturnOp,
            tt::ScanReturnOp, tt::SplatOp, tt::SplitOp, tt::StoreOp,
            tt::TransOp, tt::UnsplatOp>([](Operation *) { return Why(); })
      .Case([](tt::LoadOp load) -> Why {
        if (load.getIsVolatile())
          return "no structured load is volatile";
        return std::nullopt;
      })
      .Case([](tt::FuncOp function) -> Why {
        bool hasDescriptor =
            llvm::any_of(function.getFunctionType().getInputs(), [](Type type) {
              return !isa<tt::PointerType, IntegerType, IndexType, FloatType,
                          RankedTensorType>(type);
            });
        if (hasDescriptor)
          return "it has an argument that is no pointer, number or tensor "
                 "(tensor descriptors: run "
                 "-triton-rewrite-tensor-descriptor-to-pointer first)";
        return std::nullopt;
      })
      .Case([](tt::FpToFpOp cast) -> Why {
        Type from = getElementTypeOrSelf(cast.getSrc().getType());
        Type to = getElementTypeOrSelf(cast.getType());
        std::optional<tt::RoundingMode> rounding = cast.getRounding();
        bool narrows =
            to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
        if (!rounding || !narrows || *rounding == tt::RoundingMode::RTNE ||
            *rounding == tt::RoundingMode::RTZ)
          return std::nullopt;
        return "its rounding mode is none of arith";
      })
      .Case([](tt::MapElementwiseOp map) -> Why {
        if (map.getPack() != 1)
          return "it maps several elements at a time";
        if (!map.getScalarOp().hasOneBlock())
          return "its body has control flow";
        return std::nullopt;
      })
      .Case<tt::ElementwiseInlineAsmOp>([](Operation *) -> Why {
        return "the assembly is that of one kind of processor";
      })
      .Case([](tt::ExternElementwiseOp call) -> Why {
        if (!call.getPure())
          return "the function has effects";
        return std::nullopt;
      })
      .Case([](tt::DotScaledOp dot) -> Why {
        using Format = tt::ScaleDotElemType;
        for (Format format : {dot.getAElemType(), dot.getBElemType()})
          if (format == Format::E2M3 || format == Format::E3M2)
            return "no type has the formats e2m3 and e3m2";
        return std::nullopt;
      })
      .Case<tt::MakeTensorDescOp, tt::DescriptorLoadOp, tt::DescriptorStoreOp,
            tt::DescriptorGatherOp, tt::DescriptorScatterOp,
            tt::DescriptorReduceOp>([](Operation *) -> Why {
        return "tensor descriptors have to be pointers (run "
               "-triton-rewrite-tensor-descriptor-to-pointer first)";
      })
      .Default([](Operation *) -> Why { return "it is not known"; });
}
