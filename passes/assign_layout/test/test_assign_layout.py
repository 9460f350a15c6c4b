# SPDX-License-Identifier: Apache-2.0
"""`assign_layout` in compilations: what Triton keeps of the layout, in texts of pipelines and in sweeps; a mutation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from support import mutants

TARGETS = {
    "sm80": GPUTarget("cuda", 80, 32),
    "sm90": GPUTarget("cuda", 90, 32),
    "gfx942": GPUTarget("hip", "gfx942", 64),
}
BLOCKED = "#ttg.blocked<{{sizePerThread = [{vec}], threadsPerWarp = [{lanes}], warpsPerCTA = [4], order = [0]}}>"


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + 1)


def compiled(target: GPUTarget, pipeline: tx.Pipeline) -> Any:
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    with pipeline:
        return triton.compile(triton.compiler.ASTSource(add, types, {"BLOCK": 1024}, attributes), target=target)


def assigned(vec: int, target: GPUTarget, **chosen: Any) -> tx.Pipeline:
    layout = BLOCKED.format(vec=vec, lanes=target.warp_size)
    return tx.Pipeline().after("ttgpuir.coalesce", tx.passes.ttgir.assign_layout(layout=layout, **chosen))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("vec", [1, 2])
def test_loads_and_stores_keep_it(vec: int, name: str) -> None:
    """Triton would choose 4 elements for each thread."""
    target = TARGETS[name]
    wanted = BLOCKED.format(vec=vec, lanes=target.warp_size)
    assert wanted not in compiled(target, tx.Pipeline()).asm["ttgir"]
    one = compiled(target, assigned(vec, target, kind="load"))
    assert wanted in one.asm["ttgir"]
    both = assigned(vec, target, kind="load").after(
        "ttgpuir.coalesce", tx.passes.ttgir.assign_layout(layout=wanted, kind="store")
    )
    assert "convert_layout" not in compiled(target, both).asm["ttgir"]


def test_by_line() -> None:
    target = TARGETS["sm90"]
    line = add.starting_line_number + 3  # of the store, and of the load and the sum
    made = compiled(target, assigned(1, target, line=line))
    assert "convert_layout" not in made.asm["ttgir"]
    assert "ld.global.b32" in made.asm["ptx"]
    assert "v4" not in made.asm["ptx"]


def test_the_text_of_a_pipeline() -> None:
    pipeline = assigned(2, TARGETS["sm90"], kind="load")
    assert str(tx.Pipeline.parse(str(pipeline))) == str(pipeline)


@pytest.mark.slow
def test_sweep() -> None:
    """Each layout is another binary."""
    target = TARGETS["sm90"]
    swept = tx.sweep(lambda vec: assigned(vec, target, kind="store"), vec=[1, 2, 4])
    assert len({compiled(target, pipeline).asm["ptx"] for pipeline in swept.values()}) == len(swept)


@pytest.mark.slow
def test_nothing_to_choose() -> None:
    with pytest.raises(tx.PipelineError, match="found no operation"):
        compiled(TARGETS["sm90"], assigned(1, TARGETS["sm90"], kind="atomic"))
    compiled(TARGETS["sm90"], assigned(1, TARGETS["sm90"], kind="atomic", optional=True))


BUGS = {
    "uses keep the new layout": mutants.Mutation(
        "AssignLayout.cpp", "result.replaceAllUsesExcept(back, back)", "(void)back"
    ),
    "any line": mutants.Mutation("AssignLayout.cpp", "line == 0 || hasLine(op->getLoc(), line)", "true"),
    "vectors of one element": mutants.Mutation("AssignLayout.cpp", "vector", "1", behind="sizes[dimension] = "),
    "vectors along the first dimension": mutants.Mutation("AssignLayout.cpp", "sizes[dimension]", "sizes[0]"),
    "four warps": mutants.Mutation("AssignLayout.cpp", "ttg::lookupNumWarps(op)", "4"),
    "half a warp": mutants.Mutation("AssignLayout.cpp", "ttg::lookupThreadsPerWarp(builder)", "16"),
    "tensors without the dimension": mutants.Mutation("AssignLayout.cpp", "dimension < type.getRank()", "true"),
    "negative dimensions": mutants.Mutation("AssignLayout.cpp", "dimension >= 0", "true"),
    "a layout beside a vector": mutants.Mutation("AssignLayout.cpp", "vector != 0 && !layout.empty()", "false"),
    "vectors of three": mutants.Mutation("AssignLayout.cpp", "!llvm::isPowerOf2_64(vector)", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/assign_layout", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/assign_layout", libraries, bug) == (not bug)
