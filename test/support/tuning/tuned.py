# SPDX-License-Identifier: Apache-2.0
"""Kernels for the tuning tests. Worker processes import kernels, so they are globals here."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import triton
import triton.language as tl

import triton_ext as tx
from support.tuning import standin
from triton_ext.tuning import TensorSpec

if "TUNING_STANDIN" in os.environ:  # in a worker
    standin.activate(int(os.environ["TUNING_STANDIN"]))

CONFIGS = [triton.Config({"BLOCK": block}) for block in (32, 64, 128)]


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def accumulate(x, y, n, BLOCK: tl.constexpr):
    """y += 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(y + i, mask=i < n) + 2 * tl.load(x + i, mask=i < n), mask=i < n)


def renamed(new: str, old: str = "scale") -> tx.Pipeline:
    """Returns a pipeline that renames the kernel to `new`; the stand-in device computes by that name."""
    return tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old=old, new=new))


PIPELINES = {"plain": tx.Pipeline(), "fast": renamed("fast"), "slow": renamed("slow")}
TIMES = {
    (name, block): time
    for name, times in {"scale": (5.0, 4.0, 6.0), "fast": (3.0, 2.0, 1.0), "slow": (9.0, 8.0, 7.0)}.items()
    for block, time in zip((32, 64, 128), times, strict=True)
}


def doubled(arguments: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns the expected result of `scale`."""
    return {"y": 2 * np.asarray(arguments["x"])}


def ones(n: int = 256) -> standin.Tensor:
    """Returns a tensor of ones."""
    return standin.Tensor(np.ones(n, "float32"))


def make_arguments(described: dict[str, Any]) -> dict[str, Any]:
    """Makes the arguments of a worker."""
    return {name: ones(value.shape[0]) if isinstance(value, TensorSpec) else value for name, value in described.items()}


@tx.autotune(
    CONFIGS,
    ["n"],
    pipelines={"plain": tx.Pipeline(), "nowhere": tx.Pipeline().skip("no.where")}
    | {name: renamed(name, "remote") for name in ("fast", "wrong", "crash")},
    do_bench=standin.Bench(TIMES),
    reference=doubled,
    arguments=make_arguments,
)
@triton.jit
def remote(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


standin.COMPUTE["remote"] = standin.scale
