# SPDX-License-Identifier: Apache-2.0
"""Casts between widths give the bits of NumPy's views; tiles of casts and prints, what the whole gives."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import torch

from support.linalg.on_memory import run

pytestmark = pytest.mark.usefixtures("stock")

LOWER = "lower-linalg-ext{program-arguments=false}"
CASTS = [
    ("uint8", "i8", "float32", "f32"), ("float32", "f32", "uint8", "i8"), ("int64", "i64", "float16", "f16"),
    ("float16", "f16", "int64", "i64"), ("float64", "f64", "int32", "i32"), ("int16", "i16", "int16", "i16"),
]  # fmt: skip


def cast(source: Any, element: str, target: Any, wanted: str, *, dynamic: bool) -> str:
    """Returns a function that casts the first array into the second one."""
    lines, types = [], []
    for i, (array, ty) in enumerate([(source, element), (target, wanted)]):
        memory = f"memref<{array.shape[0]}x{array.shape[1]}x{ty}>"
        types.append((memory, f"tensor<{'?x?' if dynamic else f'{array.shape[0]}x{array.shape[1]}'}x{ty}>"))
        view = f"aux.view %p{i} to offset: [0], sizes: {list(array.shape)}, strides: [{array.shape[1]}, 1]"
        lines.append(f"%m{i} = {view} : !llvm.ptr to {memory}")
    known = types[0][0].replace("memref", "tensor")
    lines += [
        f"%t = bufferization.to_tensor %m0 restrict : {types[0][0]} to {known}",
        f"%d = tensor.cast %t : {known} to {types[0][1]}" if dynamic else "",
        f"%c = aux.bitcast_ext %{'d' if dynamic else 't'} : {types[0][1]} to {types[1][1]}",
        f"bufferization.materialize_in_destination %c in restrict writable %m1 : ({types[1][1]}, {types[1][0]}) -> ()",
    ]
    body = "\n  ".join(lines)
    return f"func.func @f(%p0: !llvm.ptr, %p1: !llvm.ptr) {{\n  {body}\n  return\n}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "element", "other", "wanted"), CASTS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_bits(dtype: str, element: str, other: str, wanted: str, dynamic: bool) -> None:
    source = np.random.default_rng(0).integers(0, 256, (5, 48), dtype="uint8").view(dtype)
    expected = source.view(other)
    for tiling in ("", "tile-linalg{tile-sizes=2,4},"):
        found = torch.zeros(expected.nbytes, dtype=torch.int8)
        text = cast(source, element, expected, wanted, dynamic=dynamic)
        run(text, tiling + LOWER, torch.from_numpy(source.copy().view("uint8")), found)
        assert found.numpy().tobytes() == expected.tobytes(), tiling


@pytest.mark.slow
def test_tiles_of_prints(capfd: pytest.CaptureFixture[str]) -> None:
    """A tile prints the indices of the whole array, as wide as those."""
    text = """
func.func @f(%p: !llvm.ptr) {
  %m = aux.view %p to offset: [0], sizes: [4, 11], strides: [11, 1] : !llvm.ptr to memref<4x11xi32>
  aux.print(%m : memref<4x11xi32>) {format = "x: "}
  return
}
"""
    x, printed = torch.arange(44, dtype=torch.int32), []
    for tiling in ("", "tile-linalg{tile-sizes=3,4},", "tile-linalg{tile-sizes=3,8},tile-linalg{tile-sizes=2,3},"):
        run(text, tiling + LOWER, x)
        ctypes.CDLL(None).fflush(None)
        printed.append(capfd.readouterr().out.splitlines())
    assert printed[0] == [f"x: [{i}, {j}] {11 * i + j}" for i in range(4) for j in range(11)]
    assert printed[1] != printed[0]
    assert sorted(printed[1]) == sorted(printed[2]) == sorted(printed[0])
