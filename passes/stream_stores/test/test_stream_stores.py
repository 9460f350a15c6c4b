# SPDX-License-Identifier: Apache-2.0
"""`stream_stores` changes stores, but not results: kernels on the CPU with and without it give the same bits."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support import mutants

STREAM = tx.Pipeline().at_end("llvm", tx.passes.llvm.stream_stores())
POINTERS = "*{0}, *{0}, *{0}, i32, 128"


@triton.jit
def scale_and_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 3 + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def subtract_whole(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) - tl.load(y + i))


@triton.jit
def keep_some(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(y + i, mask=i < n), mask=(v > 0) & (i < n))


@triton.jit
def add_to(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(out + i, mask=i < n) + tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def count(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)
    tl.atomic_add(y, 1)


def assembly(kernel: object, target: str, dtype: str, pipeline: tx.Pipeline | None) -> str:
    traced = tx.trace(kernel, target=target, signature=POINTERS.format(dtype), pipeline=pipeline)
    return "\n".join(str(stage.output) for stage in traced.stages if stage.name in {"asm", "ptx", "amdgcn"})


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["fp32", "i8"])
@pytest.mark.parametrize("kernel", [scale_and_add, subtract_whole, keep_some])
def test_streams(kernel: object, dtype: str) -> None:
    plain, streamed = (assembly(kernel, "cpu:haswell", dtype, pipeline) for pipeline in (None, STREAM))
    stores, fences = r"\tv?movnt(ps|pd|dq)\t%[xy]mm", r"\tsfence\n"
    assert re.search(stores, streamed)
    assert re.search(fences, streamed)
    assert not re.search(stores, plain)
    assert not re.search(fences, plain)


@pytest.mark.parametrize("kernel", [add_to, count])
def test_leaves_alone(kernel: object) -> None:
    assert assembly(kernel, "cpu:haswell", "fp32", None) == assembly(kernel, "cpu:haswell", "fp32", STREAM)


@pytest.mark.slow
def test_on_gpus() -> None:
    signature = "*fp32:16, *fp32:16, *fp32:16, i32, 1024"

    def texts(target: str, pipeline: tx.Pipeline | None) -> str:
        traced = tx.trace(subtract_whole, target=target, signature=signature, pipeline=pipeline)
        return "\n".join(str(stage.output) for stage in traced.stages if stage.name in {"ptx", "amdgcn"})

    assert re.search(r"global_store_dwordx4 .* nt\n", texts("hip:gfx942", STREAM))
    assert not re.search(r"global_store_dwordx4 .* nt\n", texts("hip:gfx942", None))
    # Triton stores by inline PTX there.
    assert texts("cuda:90", STREAM) == texts("cuda:90", None)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [scale_and_add, subtract_whole, keep_some, add_to])
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 700),
    dtype=st.sampled_from([np.float32, np.float64, np.int32, np.int8]),
    offset=st.integers(0, 9),
    in_place=st.booleans(),
)
def test_same_bits(kernel: object, seed: int, n: int, dtype: type, offset: int, in_place: bool) -> None:
    random = np.random.default_rng(seed)
    x, y, out = (random.integers(-100, 100, 1024).astype(dtype) for _ in range(3))
    results = []
    for pipeline in (tx.Pipeline(), STREAM):
        inputs = x.copy(), y.copy()
        result = inputs[0] if in_place else out.copy()
        with tx.target.active("cpu"), pipeline:
            kernel[(triton.cdiv(n, 128),)](inputs[0][offset:], inputs[1][offset:], result[offset:], n, BLOCK=128)  # type: ignore[index]
        results.append((inputs[0].tobytes(), inputs[1].tobytes(), result.tobytes()))
    assert results[0] == results[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(("!loaded.contains(base);", "true;"), id="results that are loaded"),
        pytest.param((".isX86()", ".isAMDGPU()"), id="no fence"),
        pytest.param(("if (maySignal(instruction))", "if (false && maySignal(instruction))"), id="signals"),
        pytest.param(("if (store.align.value() < bytes)", "if (store.align.value() < 4)"), id="alignment"),
        pytest.param(("!(loop && loop->isLoopInvariant(store.pointer))", "true"), id="same place"),
    ],
)
def test_the_lit_tests_notice_a_bug(mutation: tuple[str, str], tmp_path: Path) -> None:
    assert not mutants.lit_passes("passes/stream_stores", mutation, tmp_path)


@pytest.mark.slow
def test_the_executions_notice_a_bug(tmp_path: Path) -> None:
    bug = mutants.Mutation("StreamStores.cpp", "Constant::getAllOnesValue(bits->getType())", "bits")
    libraries = mutants.build_with_bugs("passes/stream_stores", {"mask": bug}, tmp_path / "bugs")
    for name, passes in (("", True), ("mask", False)):
        done = mutants.run_tests(Path(__file__), "same_bits", libraries, name, tmp_path / f"cache{name}")
        assert (done.returncode == 0) == passes, done.stdout[-3000:]
