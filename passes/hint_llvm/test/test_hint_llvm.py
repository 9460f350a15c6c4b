# SPDX-License-Identifier: Apache-2.0
"""`hint_llvm` changes the code of one kernel and not its results, and leaves other kernels alone; mutations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support import mutants
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
@pytest.mark.parametrize(
    "hints", [{"unroll": 1}, {"unroll": 4}, {"small": True}, {"vector_width": 256}, {"vectorize": False}]
)
@settings(max_examples=8, deadline=None)
@given(rows=st.integers(0, 9), seed=st.integers(0, 2**32 - 1))
def test_same_results(hints: dict[str, object], rows: int, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal((rows, 64), np.float32)
    results = []
    for pipeline in (tx.Pipeline(), tx.Pipeline().at_start("llvm", tx.passes.llvm.hint_llvm(**hints))):
        y = np.full(64, np.nan, np.float32)
        with tx.target.active("cpu"), pipeline:
            accumulate[(1,)](x, y, rows, BLOCK=64)
        results.append(y)
    assert not np.isnan(results[0]).any()
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


BUGS = {
    "outer loops": mutants.Mutation("HintLlvm.cpp", "loop->isInnermost()", "true"),
    "loops that have a count": mutants.Mutation("HintLlvm.cpp", '!hasMetadata(*loop, "llvm.loop.unroll")', "true"),
    "loops that ask for vectors": mutants.Mutation(
        "HintLlvm.cpp", '!hasMetadata(*loop, "llvm.loop.vectorize")', "true"
    ),
    "a count beside the word disable": mutants.Mutation(
        "HintLlvm.cpp", "unroll == 1 ? nullptr : ConstantInt::get(i32, unroll)", "ConstantInt::get(i32, unroll)"
    ),
    "what a loop had is lost": mutants.Mutation("HintLlvm.cpp", "loop.getLoopID()", "nullptr", behind="addMetadata"),
    "other processors": mutants.Mutation(
        "HintLlvm.cpp", "Triple(function.getParent()->getTargetTriple()).isX86()", "true"
    ),
    "functions that exchange vectors": mutants.Mutation("HintLlvm.cpp", "!exchangesVectors(function)", "true"),
    "functions that return a vector": mutants.Mutation("HintLlvm.cpp", "has(function.getReturnType())", "false"),
    "functions that take a vector": mutants.Mutation("HintLlvm.cpp", "has(a.getType())", "false"),
    "functions that pass a vector": mutants.Mutation("HintLlvm.cpp", "has(use->getType())", "false"),
    "LLVM's own functions": mutants.Mutation("HintLlvm.cpp", "!isa<IntrinsicInst>(call)", "true"),
    "wider vectors stay legal": mutants.Mutation(
        "HintLlvm.cpp", 'function.addFnAttr("min-legal-vector-width", bits)', "(void)0"
    ),
    "small beside optnone": mutants.Mutation(
        "HintLlvm.cpp", "!function.hasFnAttribute(Attribute::OptimizeNone)", "true"
    ),
    "any width": mutants.Mutation("HintLlvm.cpp", "!is_contained({0, 128, 256, 512}, vectorWidth)", "false"),
    "any count": mutants.Mutation("HintLlvm.cpp", "unroll < 0 || unroll > 1024", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/hint_llvm", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/hint_llvm", libraries, bug) == (not bug)
