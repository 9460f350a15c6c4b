# SPDX-License-Identifier: Apache-2.0
"""Pipelines that leave a trace in what is compiled, and short forms of the records of `describe`."""

from __future__ import annotations

from typing import Any

import triton_ext as tx
from support.pipeline.kernels import add_one, matmul, softmax
from triton_ext.compilation.records import Compilation
from triton_ext.pipeline.records import PassRecord

CUDA80, CUDA90, CUDA100, GFX942 = "cuda:80", "cuda:90", "cuda:100", "hip:gfx942"
TARGETS = (CUDA80, CUDA90, CUDA100, GFX942)
KERNELS = {
    "softmax": (softmax, "*fp32, *fp32, i32, 256"),
    "matmul": (matmul, "*fp16:16, *fp16:16, *fp32:16, i32:16, 32"),
    "add_one": (add_one, "*fp32, *fp32, 512, {warp}"),
}


def describe(pipeline: tx.Pipeline | None = None, target: str = CUDA90, kernel: str = "softmax") -> Compilation:
    """Describes the compilation of one of `KERNELS` with `pipeline`."""
    function, signature = KERNELS[kernel]
    warp = 64 if target == GFX942 else 32
    return tx.describe(function, target=target, signature=signature.format(warp=warp), pipeline=pipeline)


def records(compilation: Compilation, stage: str) -> tuple[PassRecord, ...]:
    return next(s.passes for s in compilation.stages if s.name == stage)


def names(compilation: Compilation, stage: str) -> list[str]:
    """Returns the names of the passes that ran, in order."""
    return [r.name for r in records(compilation, stage) if r.ran]


def everything(compilation: Compilation) -> list[tuple[str, str, Any]]:
    """Returns stage, pass and arguments of every pass that ran."""
    return [(s.name, r.name, r.arguments) for s in compilation.stages for r in s.passes if r.ran]


def llvm_text(compilation: Compilation) -> str:
    """Returns the LLVM IR behind the passes of the stage ``llvm``."""
    (stage,) = (stage for stage in compilation.stages if stage.name == "llvm")
    return str(stage.output)


def renaming(old: str, new: str) -> tx.Pipeline:
    """Returns a pipeline that renames the function `old`."""
    return tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old=old, new=new))


def mark(module: Any) -> None:
    """Does nothing; its place among the passes shows where an anchor matched."""


MARK = "support.pipeline.seen:mark"
