# SPDX-License-Identifier: Apache-2.0
"""Kernels compute the same on the CPU with gathers of `tts`; the lit tests find bugs of the pass."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import triton

import triton_ext as tx
from support import mutants, pointer_shapes

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

BACK = tx.Pipeline().at_end(
    "ttir",
    tx.passes.ttir.triton_to_unstructured(),
    tx.passes.ttir.lower_structured(),
    tx.builtin.common.canonicalizer(),
)


@pytest.mark.slow
def test_random_shapes_compute_what_the_interpreter_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    pointer_shapes.assert_as_interpreted(BACK, 30, tmp_path / "expected.pt")


bug = partial(mutants.Mutation, "TritonToUnstructured.cpp")

BUGS = {
    "any number of places": bug("ShapedType::isDynamicShape(shape)", "false"),
    "volatile": bug("op.getIsVolatile()", "false"),
    "any default": bug("(op.getOther() && !isSplat(op.getOther()))", "false"),
    "the default is lost": bug("getSplat(op.getOther(), builder)", "other"),
    "sums have 32 bits": bug("low.isSignedIntN(32) && high.isSignedIntN(32)", "true"),
    "one offset has 64 bits": bug("bitsOf(offsets.front()) <= 32", "false"),
    "the last offset counts": bug("places.offset", "Value()", behind="places.offset = "),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/triton_to_unstructured", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/triton_to_unstructured", libraries, bug) == (not bug)
