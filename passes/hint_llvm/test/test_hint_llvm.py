# SPDX-License-Identifier: Apache-2.0
"""`hint_llvm` changes the code of one kernel and not its results, and leaves the other kernels of the process alone."""

from __future__ import annotations

import re

import numpy as np
import pytest

import triton_ext as tx
from support.search.unrolled import accumulate

SIGNATURE = "*fp32:16, *fp32:16, i32, 64"


def assembly(target: str, **hints: object) -> str:
    pipeline = tx.Pipeline().at_start("llvm", tx.passes.llvm.hint_llvm(**hints)) if hints else None
    traced = tx.trace(accumulate, target=target, signature=SIGNATURE, pipeline=pipeline)
    return "\n".join(str(stage.output) for stage in traced.stages if stage.name in {"asm", "ptx"})


@pytest.mark.slow
def test_unrolling() -> None:
    loads = {hints: len(re.findall("ld.global", assembly("cuda:90", unroll=hints))) for hints in (1, 2, 8)}
    assert loads[1] < loads[2] < loads[8]


@pytest.mark.slow
def test_the_width_of_vectors() -> None:
    plain, narrow = assembly("cpu:skylake-avx512"), assembly("cpu:skylake-avx512", vector_width=256)
    assert "%zmm" in plain
    assert "%zmm" not in narrow
    assert assembly("cpu:skylake-avx512") == plain


@pytest.mark.slow
@pytest.mark.parametrize("hints", [{"unroll": 1}, {"unroll": 4}, {"small": True}, {"vector_width": 256}])
def test_same_results(hints: dict[str, object]) -> None:
    x = np.random.default_rng(0).standard_normal((7, 64), np.float32)
    results = []
    for pipeline in (tx.Pipeline(), tx.Pipeline().at_start("llvm", tx.passes.llvm.hint_llvm(**hints))):
        y = np.full(64, np.nan, np.float32)
        with tx.target.active("cpu"), pipeline:
            accumulate[(1,)](x, y, 7, BLOCK=64)
        results.append(y)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)
