# SPDX-License-Identifier: Apache-2.0
"""`stream_stores` changes stores, but not results: kernels on the CPU with and without it give the same bits."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
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


@st.composite
def arguments(draw: st.DrawFn) -> tuple[list[np.ndarray], int, bool]:
    """Draws two inputs and an output of some type and alignment, a number of elements, and whether to work in place."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int32, np.int8]))
    offset = draw(st.integers(0, 9))
    arrays = [random.integers(-100, 100, 1024).astype(dtype)[offset:] for _ in range(3)]
    return arrays, draw(st.integers(0, 700)), draw(st.booleans())


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [scale_and_add, subtract_whole, keep_some, add_to])
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=arguments())
@example(drawn=([(scale * np.resize(np.float32([1, -1, 0, 2, -3]), 1024))[0:] for scale in (1, 2, 3)], 700, False))
def test_same_bits(kernel: object, drawn: tuple[list[np.ndarray], int, bool]) -> None:
    arrays, n, in_place = drawn
    results = []
    for pipeline in (tx.Pipeline(), STREAM):
        # Torch's memory is aligned to 64 bytes, as streaming stores need; that of NumPy is by chance.
        wholes = [torch.from_numpy(array.base).clone().numpy() for array in arrays]
        x, y, out = (whole[1024 - array.size :] for whole, array in zip(wholes, arrays, strict=True))
        result = x if in_place else out
        with tx.target.active("cpu"), pipeline:
            kernel[(triton.cdiv(n, 128),)](x, y, result, n, BLOCK=128)  # type: ignore[index]
        results.append([whole.tobytes() for whole in wholes])
    assert results[0] == results[1]


TRIPLE = "Triple(function.getParent()->getTargetTriple())"
BUGS = {
    "results that are loaded": mutants.Mutation("StreamStores.cpp", "!loaded.contains(base)", "true"),
    "no fence": mutants.Mutation("StreamStores.cpp", f"{TRIPLE}.isX86()", f"{TRIPLE}.isAMDGPU()"),
    "signals": mutants.Mutation("StreamStores.cpp", "maySignal(instruction)", "false"),
    "alignment": mutants.Mutation("StreamStores.cpp", "store.align.value() < bytes", "store.align.value() < 4"),
    "same place": mutants.Mutation("StreamStores.cpp", "!(loop && loop->isLoopInvariant(store.pointer))", "true"),
    "the mask": mutants.Mutation("StreamStores.cpp", "Constant::getAllOnesValue(bits->getType())", "bits"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/stream_stores", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/stream_stores", libraries, bug) == (not bug)


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", "the mask"])
def test_the_executions_notice_a_bug(bug: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(Path(__file__), "same_bits", libraries, bug, tmp_path / "cache")
    assert (done.returncode == 0) == (not bug), done.stdout[-3000:]
