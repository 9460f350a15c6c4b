// SPDX-License-Identifier: Apache-2.0
//
// The LLVM dialect: every op against its registration, every property of the
// ops that carry many. CallOp, InvokeOp and LLVMFuncOp are where two releases
// of LLVM first part ways.

#include "Dialects.h"
#include "Fields.h"
#include "OpTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace triton_ext::selftest;

namespace triton_ext::selftest {
SAMPLE(LLVM::LinkageAttr, "#llvm.linkage<internal>");
SAMPLE(LLVM::CConvAttr, "#llvm.cconv<fastcc>");
SAMPLE(LLVM::TailCallKindAttr, "#llvm.tailcallkind<tail>");
SAMPLE(LLVM::FramePointerKindAttr, "#llvm.framePointerKind<all>");
SAMPLE(LLVM::UWTableKindAttr, "#llvm.uwtableKind<sync>");
SAMPLE(LLVM::FunctionEntryCountAttr,
       "#llvm.function_entry_count<entry_count = 7>");
SAMPLE(LLVM::MemoryEffectsAttr,
       "#llvm.memory_effects<other = none, argMem = read, "
       "inaccessibleMem = none, errnoMem = none, targetMem0 = none, "
       "targetMem1 = none>");
SAMPLE(LLVM::DenormalFPEnvAttr,
       "#llvm.denormal_fpenv<default_output_mode = ieee, default_input_mode = "
       "ieee, float_output_mode = ieee, float_input_mode = ieee>");
SAMPLE(LLVM::LoopAnnotationAttr,
       "#llvm.loop_annotation<disableNonforced = true>");
SAMPLE(LLVM::DereferenceableAttr, "#llvm.dereferenceable<bytes = 4>");
SAMPLE(LLVM::VScaleRangeAttr,
       "#llvm.vscale_range<minRange = 1 : i32, maxRange = 2 : i32>");
SAMPLE(LLVM::TargetFeaturesAttr, "#llvm.target_features<[\"+avx\"]>");
SAMPLE(LLVM::VecTypeHintAttr, "#llvm.vec_type_hint<hint = i32>");
} // namespace triton_ext::selftest

static Part registered(Phase::Look, [](Report &report) {
  Context context(load<LLVM::LLVMDialect>);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/LLVMIR/LLVMOps.cpp.inc"
      >(report, context);
  checkOps<
#define GET_OP_LIST
#include "mlir/Dialect/LLVMIR/LLVMIntrinsicOps.cpp.inc"
      >(report, context);
});

static Part fields(Phase::Write, [](Report &report) {
  Context context(load<LLVM::LLVMDialect>);
  FIELDS(report, context, LLVM::AShrOp, IsExact)
  FIELDS(report, context, LLVM::AddressOfOp, GlobalName)
  FIELDS(report, context, LLVM::AliasOp, AliasType, SymName, Linkage, DsoLocal,
         ThreadLocal_, UnnamedAddr, Visibility_)
  FIELDS(report, context, LLVM::AllocaOp, Alignment, ElemType, Inalloca)
  FIELDS(report, context, LLVM::AtomicCmpXchgOp, SuccessOrdering,
         FailureOrdering, Syncscope, Alignment, Weak, Volatile_, AccessGroups,
         AliasScopes, NoaliasScopes, Tbaa)
  FIELDS(report, context, LLVM::AtomicRMWOp, BinOp, Ordering, Syncscope,
         Alignment, Volatile_, AccessGroups, AliasScopes, NoaliasScopes, Tbaa)
  FIELDS(report, context, LLVM::BrOp, LoopAnnotation)
  FIELDS(report, context, LLVM::CallIntrinsicOp, Intrin, FastmathFlags,
         OpBundleSizes, OpBundleTags, ArgAttrs, ResAttrs)
  FIELDS(report, context, LLVM::CallOp, VarCalleeType, Callee, FastmathFlags,
         CConv, TailCallKind, MemoryEffects, Convergent, NoUnwind, WillReturn,
         Noreturn, ReturnsTwice, Hot, Cold, Noduplicate, NoCallerSavedRegisters,
         Nocallback, ModularFormat, Nobuiltins, Allocsize, Optsize, Minsize,
         Builtin, Nobuiltin, SaveRegParams, ZeroCallUsedRegs, TrapFuncName,
         OpBundleSizes, OpBundleTags, ArgAttrs, ResAttrs, NoInline,
         AlwaysInline, InlineHint, AccessGroups, AliasScopes, NoaliasScopes,
         Tbaa)
  FIELDS(report, context, LLVM::ComdatOp, SymName)
  FIELDS(report, context, LLVM::ComdatSelectorOp, SymName)
  FIELDS(report, context, LLVM::CondBrOp, BranchWeights, LoopAnnotation)
  FIELDS(report, context, LLVM::ConstantOp, Value)
  FIELDS(report, context, LLVM::DSOLocalEquivalentOp, FunctionName)
  FIELDS(report, context, LLVM::ExtractValueOp, Position)
  FIELDS(report, context, LLVM::FAddOp, FastmathFlags)
  FIELDS(report, context, LLVM::FCmpOp, Predicate, FastmathFlags)
  FIELDS(report, context, LLVM::FDivOp, FastmathFlags)
  FIELDS(report, context, LLVM::FMulOp, FastmathFlags)
  FIELDS(report, context, LLVM::FNegOp, FastmathFlags)
  FIELDS(report, context, LLVM::FPExtOp, FastmathFlags)
  FIELDS(report, context, LLVM::FPTruncOp, FastmathFlags)
  FIELDS(report, context, LLVM::FRemOp, FastmathFlags)
  FIELDS(report, context, LLVM::FSubOp, FastmathFlags)
  FIELDS(report, context, LLVM::FenceOp, Ordering, Syncscope)
  FIELDS(report, context, LLVM::GEPOp, RawConstantIndices, ElemType)
  FIELDS(report, context, LLVM::GlobalCtorsOp, Ctors, Priorities, Data)
  FIELDS(report, context, LLVM::GlobalDtorsOp, Dtors, Priorities, Data)
  FIELDS(report, context, LLVM::GlobalOp, GlobalType, Constant, SymName,
         Linkage, DsoLocal, ThreadLocal_, ExternallyInitialized, Value,
         Alignment, AddrSpace, UnnamedAddr, Section, Comdat, DbgExprs,
         Visibility_, TargetSpecificAttrs)
  FIELDS(report, context, LLVM::ICmpOp, Predicate)
  FIELDS(report, context, LLVM::IFuncOp, SymName, IFuncType, Resolver,
         ResolverType, Linkage, DsoLocal, AddressSpace, UnnamedAddr,
         Visibility_)
  FIELDS(report, context, LLVM::IndirectBrOp, IndbrOperandSegments)
  FIELDS(report, context, LLVM::InlineAsmOp, AsmString, Constraints,
         HasSideEffects, IsAlignStack, TailCallKind, AsmDialect, OperandAttrs)
  FIELDS(report, context, LLVM::InsertValueOp, Position)
  FIELDS(report, context, LLVM::IntToPtrOp, Dereferenceable)
  FIELDS(report, context, LLVM::InvokeOp, VarCalleeType, Callee, ArgAttrs,
         ResAttrs, BranchWeights, CConv, OpBundleSizes, OpBundleTags)
  FIELDS(report, context, LLVM::LLVMFuncOp, SymName, SymVisibility,
         FunctionType, Linkage, DsoLocal, CConv, Comdat, Convergent,
         Personality, GarbageCollector, Passthrough, ArgAttrs, ResAttrs,
         FunctionEntryCount, MemoryEffects, Visibility_, ArmStreaming,
         ArmLocallyStreaming, ArmStreamingCompatible, ArmNewZa, ArmInZa,
         ArmOutZa, ArmInoutZa, ArmPreservesZa, Section, UnnamedAddr, Alignment,
         VscaleRange, FramePointer, TargetCpu, TuneCpu, ReciprocalEstimates,
         PreferVectorWidth, TargetFeatures, NoSignedZerosFpMath, DenormalFpenv,
         FpContract, InstrumentFunctionEntry, InstrumentFunctionExit, NoInline,
         AlwaysInline, InlineHint, NoUnwind, WillReturn, Noreturn, OptimizeNone,
         ReturnsTwice, Hot, Cold, Noduplicate, NoCallerSavedRegisters,
         Nocallback, ModularFormat, Nobuiltins, Allocsize, Optsize, Minsize,
         SaveRegParams, ZeroCallUsedRegs, VecTypeHint, WorkGroupSizeHint,
         ReqdWorkGroupSize, IntelReqdSubGroupSize, UwtableKind,
         UseSampleProfile)
  FIELDS(report, context, LLVM::LShrOp, IsExact)
  FIELDS(report, context, LLVM::LandingpadOp, Cleanup)
  FIELDS(report, context, LLVM::LinkerOptionsOp, Options)
  FIELDS(report, context, LLVM::LoadOp, Alignment, Volatile_, Nontemporal,
         Invariant, InvariantGroup, Ordering, Syncscope, Dereferenceable,
         AccessGroups, AliasScopes, NoaliasScopes, Tbaa)
  FIELDS(report, context, LLVM::MetadataAsValueOp, Metadata)
  FIELDS(report, context, LLVM::ModuleFlagsOp, Flags)
  FIELDS(report, context, LLVM::NamedMetadataOp, MetadataName, Nodes)
  FIELDS(report, context, LLVM::OrOp, IsDisjoint)
  FIELDS(report, context, LLVM::SDivOp, IsExact)
  FIELDS(report, context, LLVM::SelectOp, FastmathFlags)
  FIELDS(report, context, LLVM::ShuffleVectorOp, Mask)
  FIELDS(report, context, LLVM::StoreOp, Alignment, Volatile_, Nontemporal,
         InvariantGroup, Ordering, Syncscope, AccessGroups, AliasScopes,
         NoaliasScopes, Tbaa)
  FIELDS(report, context, LLVM::SwitchOp, CaseValues, CaseOperandSegments,
         BranchWeights)
  FIELDS(report, context, LLVM::UDivOp, IsExact)
  FIELDS(report, context, LLVM::UIToFPOp, NonNeg)
  FIELDS(report, context, LLVM::ZExtOp, NonNeg)
});
