# SPDX-License-Identifier: Apache-2.0
"""Kernels compute the same on the CPU with gathers of `tts`; the lit tests find bugs of the pass."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from support import mutants, pointer_shapes

torch = pytest.importorskip("torch")
CPUDriver = pytest.importorskip("triton_ext.backends.cpu.driver").CPUDriver

WIDTHS = (0, 32, 64)


def back(width: int) -> tx.Pipeline:
    """Returns a pipeline that goes by way of `tts` with offsets of that many bits."""
    return tx.Pipeline().at_end(
        "ttir",
        tx.passes.ttir.triton_to_unstructured(offset_bit_width=width),
        tx.passes.ttir.lower_structured(),
        tx.builtin.common.canonicalizer(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_random_shapes_compute_what_the_interpreter_does(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    pointer_shapes.assert_as_interpreted(back(width), 30, tmp_path / "expected.pt")


@triton.jit
def far(x, out, start, distance):
    """Loads from `start + distance` on; each of the two may be far outside of the memory of `x`."""
    i = tl.arange(0, 8)
    tl.store(out + i, tl.load(x + start + (i * i + distance)))


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_no_offset_loses_bits(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The offsets of the loads have more than 32 bits."""
    monkeypatch.setattr(triton.runtime.driver, "_active", CPUDriver())
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    with back(width):
        far[(1,)](x, out, -(2**33) + 5, 2**33 + 2)
    assert out.tolist() == [7 + i * i for i in range(8)]


bug = partial(mutants.Mutation, "TritonToUnstructured.cpp")

BUGS = {
    "any number of places": bug("ShapedType::isDynamicShape(shape)", "false"),
    "volatile": bug("op.getIsVolatile()", "false"),
    "any default": bug("(op.getOther() && !isSplat(op.getOther()))", "false"),
    "the default is lost": bug("getSplat(op.getOther(), builder)", "other"),
    "sums have 32 bits": bug("low.isSignedIntN(32) && high.isSignedIntN(32)", "true"),
    "one offset of 64 bits is cut off": bug("isWide", "false", behind="asked == 0 && "),
    "64 bits are not asked for": bug("asked == 64", "false"),
    "an offset that may not fit has 32 bits": bug(
        "std::nullopt", "std::optional<unsigned>(32)", behind="return 64;\n  return "
    ),
    "8 bits are a width": bug("llvm::is_contained({0u, 32u, 64u}, offsetBitWidth.getValue())", "true"),
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
