# SPDX-License-Identifier: Apache-2.0
"""The names under which the literature describes Triton's passes, and the passes of today that they stand for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A name under which a pass of Triton is described, and the passes of the installed Triton that it stands for.

    Attributes:
        group: its group in Triton's ``passes`` module.
        name: the name.
        arguments: the pass itself, or those that replaced it.
        note: what became of it; empty if it is simply the pass in `arguments`.
    """

    group: str
    name: str
    arguments: tuple[str, ...]
    note: str = ""


TAXONOMY = (
    Entry(
        "analysis",
        "ModuleAllocation",
        ("allocate-shared-memory", "allocate-shared-memory-nv", "allocate-amdgpu-shared-memory"),
        "an analysis; Python's passes.analysis.allocation; these passes run it and write down its result",
    ),
    Entry(
        "analysis",
        "ModuleMembarAnalysis",
        ("triton-nvidia-gpu-membar", "triton-amdgpu-membar"),
        "an analysis; Python's passes.analysis.membar; these passes run it and insert the barriers",
    ),
    Entry("common", "SCCP", ("sccp",)),
    Entry("common", "SymbolDCE", ("symbol-dce",)),
    Entry("common", "Inliner", ("inline",)),
    Entry("common", "Canonicalizer", ("canonicalize",)),
    Entry("common", "CSE", ("cse",)),
    Entry("common", "LoopInvariantCodeMotion", ("loop-invariant-code-motion", "triton-licm")),
    Entry("convert", "ConvertSCFToCF", ("convert-scf-to-cf",)),
    Entry("convert", "ConvertControlFlowToLLVM", ("convert-cf-to-llvm",)),
    Entry(
        "convert",
        "ConvertIndexToLLVM",
        ("convert-index-to-llvm",),
        "there, but libtriton cannot parse the index dialect that it converts",
    ),
    Entry("convert", "ArithToLLVMConversion", ("convert-arith-to-llvm",)),
    Entry("ttir", "CombineOps", ("triton-combine",)),
    Entry("ttir", "ReorderBroadcast", ("triton-reorder-broadcast",)),
    Entry(
        "ttir",
        "RewriteTensorPointer",
        ("triton-rewrite-tensor-descriptor-to-pointer",),
        "dropped with block pointers (tl.make_block_ptr); tensor descriptors are lowered by this pass",
    ),
    Entry(
        "ttir",
        "ConvertTensorPointer",
        ("triton-rewrite-tensor-descriptor-to-pointer",),
        "dropped with block pointers (tl.make_block_ptr); tensor descriptors are lowered by this pass",
    ),
    Entry("ttir", "ConvertTritonToTritonGPU", ("convert-triton-to-tritongpu",)),
    Entry("ttgpuir", "Coalesce", ("tritongpu-coalesce",)),
    Entry("ttgpuir", "OptimizeThreadLocality", ("tritongpu-optimize-thread-locality",)),
    Entry("ttgpuir", "Pipeline", ("tritongpu-pipeline",)),
    Entry("ttgpuir", "Prefetch", ("tritongpu-prefetch",)),
    Entry("ttgpuir", "AccelerateMatmul", ("tritongpu-accelerate-matmul",)),
    Entry("ttgpuir", "ReorderInstructions", ("tritongpu-reorder-instructions",)),
    Entry("ttgpuir", "F32DotTC", ("tritongpu-F32DotTC",)),
    Entry("ttgpuir", "OptimizeDotOperands", ("tritongpu-optimize-dot-operands",)),
    Entry("ttgpuir", "RemoveLayoutConversions", ("tritongpu-remove-layout-conversions",)),
    Entry("ttgpuir", "ReduceDataDuplication", ("tritongpu-reduce-data-duplication",)),
    Entry("ttgpuir", "AllocateSharedMemory", ("allocate-shared-memory",)),
    Entry("ttgpuir", "CombineTensorSelectAndIf", ("tritongpu-combine-tensor-select-and-if",)),
    Entry("ttgpuir", "ConvertTritonGPUToLLVM", ("convert-triton-gpu-to-llvm", "convert-triton-amdgpu-to-llvm")),
    Entry(
        "ttgpuir",
        "DecomposeUnsupportedConversions",
        ("convert-triton-gpu-to-llvm", "tritongpu-reduce-data-duplication"),
        "dropped: the conversion to LLVM lowers every layout conversion itself; the second pass still takes apart those"
        " into operands of matrix products",
    ),
    Entry(
        "ttnvgpuir",
        "PlanCTA",
        ("triton-nvidia-gpu-assign-cga-layouts", "triton-nvidia-gpu-optimize-cta-locality"),
        "dropped: these two stand in its place in the pipeline",
    ),
    Entry("ttnvgpuir", "FenceInsertion", ("triton-nvidia-gpu-fence-insertion",)),
    Entry("ttnvgpuir", "TMALowering", ("triton-nvidia-tma-lowering",)),
    Entry("llvmir", "LLVMDIScope", ("enable-line-info",)),
)
