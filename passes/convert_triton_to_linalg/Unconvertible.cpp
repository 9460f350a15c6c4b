// SPDX-License-Identifier: Apache-2.0
//
// Names the operations that cannot be converted, and why.

#include "Conversion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/GpuDialects.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace tt = mlir::triton;

static bool isOfTriton(Type type) {
  return isa<tt::TritonDialect>(getElementTypeOrSelf(type).getDialect());
}

std::optional<StringRef>
mlir::triton_ext::convert_triton_to_linalg::whyNot(Operation *op) {
  using Why = std::optional<StringRef>;
  if (triton_ext::isForGpu(op) && !triton_ext::isBarrierOfThreads(op))
    return "it is for a GPU";
  if (auto function = dyn_cast<func::FuncOp>(op))
    if (llvm::any_of(function.getArgumentTypes(), isOfTriton) ||
        llvm::any_of(function.getResultTypes(), isOfTriton))
      return "it has arguments or results that are Triton's pointers or "
             "descriptors (make it a tt.func)";
  if (!isa_and_nonnull<tt::TritonDialect>(op->getDialect()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Why>(op)
      .Case<tt::AddPtrOp, tt::ApproxDivFOp, tt::AssertOp, tt::AtomicCASOp,
            tt::AtomicLoadOp, tt::AtomicPollOp, tt::AtomicStoreOp,
            tt::BitcastOp, tt::BroadcastOp, tt::CallOp, tt::CatOp, tt::ClampFOp,
            tt::DotOp, tt::ExpandDimsOp, tt::GatherOp, tt::GetNumProgramsOp,
            tt::GetProgramIdOp, tt::GridDependencyLaunchDependentsOp,
            tt::GridDependencyWaitOp, tt::HistogramOp, tt::IntToPtrOp,
            tt::JoinOp, tt::MakeRangeOp, tt::MapElementwiseReturnOp,
            tt::MulhiUIOp, tt::PreciseDivFOp, tt::PreciseSqrtOp, tt::PrintOp,
            tt::PtrToIntOp, tt::ReduceOp, tt::ReduceReturnOp, tt::ScanOp,
            tt::ReshapeOp, tt::ReturnOp, tt::ScanReturnOp, tt::SplatOp,
            tt::SplitOp, tt::StoreOp, tt::TransOp, tt::UnsplatOp>(
          [](Operation *) { return Why(); })
      .Case([](tt::LoadOp load) -> Why {
        if (load.getIsVolatile())
          return "no structured load is volatile (tl.atomic_add(p, 0) reads "
                 "anew each time)";
        return std::nullopt;
      })
      .Case([](tt::AtomicRMWOp atomic) -> Why {
        tt::RMWOp kind = atomic.getAtomicRmwOp();
        bool isFloat =
            isa<FloatType>(getElementTypeOrSelf(atomic.getVal().getType()));
        if (kind == tt::RMWOp::XCHG || isFloat == (kind == tt::RMWOp::FADD))
          return std::nullopt;
        if (isFloat)
          return "of floats there are only the atomics fadd and exch "
                 "(tl.atomic_max and tl.atomic_min take their bits as "
                 "integers)";
        return "fadd is of floats only, that of integers is add";
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
        return "its rounding mode is none of arith (use rtne or rtz)";
      })
      .Case([](tt::MapElementwiseOp map) -> Why {
        if (map.getPack() != 1)
          return "it maps several elements at a time (use pack=1)";
        if (!map.getScalarOp().hasOneBlock())
          return "its body has control flow (use tl.where)";
        return std::nullopt;
      })
      .Case<tt::ElementwiseInlineAsmOp>([](Operation *) -> Why {
        return "the assembly is that of one kind of processor (use the "
               "operations of triton.language, or a pure function of "
               "tl.extra.libdevice)";
      })
      .Case([](tt::ExternElementwiseOp call) -> Why {
        if (!call.getPure())
          return "the function has effects (is_pure=True says that it has "
                 "none)";
        return std::nullopt;
      })
      .Case([](tt::DotScaledOp dot) -> Why {
        using Format = tt::ScaleDotElemType;
        for (Format format : {dot.getAElemType(), dot.getBElemType()})
          if (format == Format::E2M3 || format == Format::E3M2)
            return "no type has the formats e2m3 and e3m2 (use e2m1, e4m3 or "
                   "e5m2)";
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
