# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of `tts` access what their definition says, for all kinds of numbers, and nothing else.

One function takes the strides, offsets, shapes and bounds as arguments. It is compiled once and called with many.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import triton_ext as tx
from support import mutants
from support.linalg import execute

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]

ROWS, COLUMNS, MIDDLE, CALLS = 8, 4, 4096, 3000
NUMBERS = ("o0", "s0", "m0", "n0", "o1", "s1", "m1", "n1")
PASSES = "structured-to-memref,lower-structured,triton-to-linalg,lower-linalg-ext{program-arguments=false}"
DYNAMIC = -(2**63)

HEAD = f"""tt.func public @f(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %out: !tt.ptr<i32>, {", ".join(f"%a{n}: i32" for n in NUMBERS)}) {{
{chr(10).join(f"  %{n} = arith.index_cast %a{n} : i32 to index" for n in NUMBERS)}
  %minus = arith.constant -1 : i32
  %o = tts.make_tptr %out to sizes: [{ROWS}, {COLUMNS}], strides: [{COLUMNS}, 1], offsets: [0, 0], shape: [0, 0], order: []
      : <i32> to tensor<{ROWS}x{COLUMNS}x!tt.ptr<i32>>
"""  # noqa: E501
POINTERS = """  %{to} = tts.make_tptr %{at} to sizes: [8, 4], strides: [%s0, %s1], offsets: [%o0, %o1], shape: [%m0, %m1], order: []
      : <i32> to tensor<8x4x!tt.ptr<i32>>
"""  # noqa: E501
ONE_BY_ONE = """  %{to} = tts.make_gather_scatter_tptr %{at} to sizes: [8, 4] gather_scatter_dim: 0
      gather_scatter_offset: %rows gather_scatter_mask: %mask, strides: [%s0, %s1], offsets: [0, %o1]
      : tensor<8xi32> tensor<8xi1> <i32> to tensor<8x4x!tt.ptr<i32>>
"""
# Row i is at i * i - 3 * i, and is left out if it is a multiple of 3 from 3 on.
ROW_OFFSETS = """  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %square = arith.muli %i, %i : tensor<8xi32>
  %thrice = arith.muli %i, %three : tensor<8xi32>
  %rows = arith.subi %square, %thrice : tensor<8xi32>
  %rest = arith.remsi %i, %three : tensor<8xi32>
  %some = arith.cmpi ne, %rest, %zero : tensor<8xi32>
  %none = arith.cmpi eq, %i, %zero : tensor<8xi32>
  %mask = arith.ori %some, %none : tensor<8xi1>
"""
ACCESSES = f"""  %v = "tts.load"(%p, {{bounds}}, %minus) <{{{{operandSegmentSizes = array<i32: 1, {{count}}, 1>, static_mask_dims = array<i64: {{first}}, {DYNAMIC}>}}}}>
      : (tensor<8x4x!tt.ptr<i32>>, {{types}}, i32) -> tensor<8x4xi32>
  "tts.store"(%o, %v) <{{{{static_mask_dims = array<i64>}}}}> : (tensor<8x4x!tt.ptr<i32>>, tensor<8x4xi32>) -> ()
  %w = "tts.load"(%o) <{{{{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}}}}>
      : (tensor<8x4x!tt.ptr<i32>>) -> tensor<8x4xi32>
  "tts.store"(%q, %w, {{bounds}}) <{{{{static_mask_dims = array<i64: {{first}}, {DYNAMIC}>}}}}>
      : (tensor<8x4x!tt.ptr<i32>>, tensor<8x4xi32>, {{types}}) -> ()
  tt.return
}}}}
"""  # noqa: E501


@cache
def built(gathers: bool) -> Callable[..., None]:
    """Returns the function, which copies elements at ``x`` to ``out`` and from there to the same offsets from ``y``."""
    pointers = ONE_BY_ONE if gathers else POINTERS
    bounds = ("%n1", 1, 0, "index") if gathers else ("%n0, %n1", 2, DYNAMIC, "index, index")
    accesses = ACCESSES.format(**dict(zip(("bounds", "count", "first", "types"), bounds, strict=True)))
    text = HEAD + (ROW_OFFSETS if gathers else "")
    text += pointers.format(to="p", at="x") + pointers.format(to="q", at="y") + accesses
    function: Any = execute.build(execute.to_llvm(tx.opt(text, PASSES)), "f").f
    function.restype = None
    return lambda tensors, numbers: function(
        *(ctypes.c_void_p(tensor.ctypes.data + at * 4) for tensor, at in tensors), *map(ctypes.c_int32, numbers)
    )


def remainder(offsets: np.ndarray, modulus: int) -> np.ndarray:
    return np.fmod(offsets, modulus) if modulus else offsets


def check(numbers: dict[str, int], gathers: bool) -> None:
    """Compares one call with NumPy."""
    i, j, of = np.arange(ROWS), np.arange(COLUMNS), numbers
    rows = (i * i - 3 * i) * of["s0"] if gathers else remainder(of["o0"] + i * of["s0"], of["m0"])
    columns = of["o1"] + j * of["s1"]
    columns = columns if gathers else remainder(columns, of["m1"])
    kept = (i == 0) | (i % 3 != 0) if gathers else i < of["n0"]
    mask = kept[:, None] & (j < of["n1"])[None, :]
    places = MIDDLE + rows[:, None] + columns[None, :]
    x = np.arange(2 * MIDDLE, dtype=np.int32) * 7
    y, out = np.full(2 * MIDDLE, -2, np.int32), np.full((ROWS, COLUMNS), -3, np.int32)
    built(gathers)([(x, MIDDLE), (y, MIDDLE), (out, 0)], [numbers[name] for name in NUMBERS])
    np.testing.assert_array_equal(out, np.where(mask, x[places], -1), str(numbers))
    expected = np.full(2 * MIDDLE, -2, np.int32)
    expected[places[mask]] = x[places[mask]]
    np.testing.assert_array_equal(y, expected, str(numbers))


def drawn(rng: random.Random) -> dict[str, int]:
    """Returns random numbers; the strides and shapes that kernels have are frequent."""
    numbers: dict[str, int] = {}
    for dim, size in (("0", ROWS), ("1", COLUMNS)):
        stride = rng.choice([0, 1, 1, 2, -1, 10, rng.randint(-9, 9)])
        shape = rng.choice([0, stride * rng.randint(1, 12), rng.randint(-40, 40)])
        numbers |= {"o" + dim: rng.randint(-60, 60), "s" + dim: stride, "m" + dim: shape}
        numbers["n" + dim] = rng.choice([size, rng.randint(-2, size + 2)])
    return numbers


@pytest.mark.parametrize("gathers", [False, True])
def test_accesses(gathers: bool) -> None:
    rng = random.Random(gathers)
    for _ in range(CALLS):
        check(drawn(rng), gathers)


bug = partial(mutants.Mutation, "Runs.cpp")

BUGS = {
    "any modulus is 0": bug("arith::CmpIPredicate::eq", "arith::CmpIPredicate::ne", behind="toValue(term.modulus)"),
    "no stride is negative": bug("arith::CmpIPredicate::slt", "arith::CmpIPredicate::eq"),
    "minus the modulus is a remainder": bug("arith::CmpIPredicate::sgt", "arith::CmpIPredicate::sge"),
    "a stride of 0 wraps around": bug("arith::CmpIPredicate::eq", "arith::CmpIPredicate::ne", behind="A stride of 0"),
    "one run is enough": bug("divide(rounded, least)", "zero"),
    "a run has no end": bug("runs.lengthFrom(dividend)", "count"),
    "a run begins at the first element": bug("run.elements.low", "run.memory.low", behind="tensor::InsertSliceOp"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the conversion with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/convert_triton_to_linalg", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.parametrize("bug", ["", *BUGS])
def test_a_bug_is_noticed(bug: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(Path(__file__), "test_accesses and False", libraries, bug, tmp_path)
    assert (done.returncode != 0) == bool(bug), done.stdout
