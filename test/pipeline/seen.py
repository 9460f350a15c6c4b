# SPDX-License-Identifier: Apache-2.0
"""Short forms of what `describe` tells, for the pipeline tests."""

from __future__ import annotations

from typing import Any

from kernels import add_one, matmul, softmax

import triton_ext as tx
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
    """What `pipeline` does to one of `KERNELS`."""
    function, signature = KERNELS[kernel]
    warp = 64 if target == GFX942 else 32
    return tx.describe(function, target=target, signature=signature.format(warp=warp), pipeline=pipeline)


def records(compilation: Compilation, stage: str) -> tuple[PassRecord, ...]:
    return next(s.passes for s in compilation.stages if s.name == stage)


def names(compilation: Compilation, stage: str) -> list[str]:
    """The passes that ran, in order."""
    return [r.name for r in records(compilation, stage) if r.ran]


def everything(compilation: Compilation) -> list[tuple[str, str, Any]]:
    """Stage, pass and arguments of all that ran."""
    return [(s.name, r.name, r.arguments) for s in compilation.stages for r in s.passes if r.ran]


def mark(module: Any) -> None:
    """Does nothing; where it ran says where an anchor matched."""


MARK = "seen:mark"
