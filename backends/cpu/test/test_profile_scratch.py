# SPDX-License-Identifier: Apache-2.0
"""Memory that a kernel gets outside of its signature: from Triton's profile allocator, or from the driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import triton
from triton.runtime import _allocation

#: Each program adds its number and what the memory holds, stores the sum there and in `x`.
KERNEL = """
module {
  tt.func public @adds(%x: !tt.ptr<i64>) {
    %bytes = ttg.global_scratch_alloc {alignment = 64 : i32, nbytes = 24 : i32, third_party_allocation} : !tt.ptr<i8>
    %own = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i64>
    %ix = tt.get_program_id x : i32
    %iy = tt.get_program_id y : i32
    %nx = tt.get_num_programs x : i32
    %row = arith.muli %iy, %nx : i32
    %i = arith.addi %row, %ix : i32
    %wide = arith.extsi %i : i32 to i64
    %old = tt.load %own : !tt.ptr<i64>
    %new = arith.addi %old, %wide : i64
    tt.store %own, %new : !tt.ptr<i64>
    %to = tt.addptr %x, %i : !tt.ptr<i64>, i32
    tt.store %to, %new : !tt.ptr<i64>
    tt.return
  }
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> triton.compiler.CompiledKernel:
    (tmp_path / "adds.ttir").write_text(KERNEL)
    return triton.compile(str(tmp_path / "adds.ttir"))


@pytest.fixture
def no_allocator() -> Iterator[None]:
    before = _allocation._profile_allocator.get()
    _allocation.set_profile_allocator(None)
    yield
    _allocation.set_profile_allocator(before)


class Memory:
    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)


@pytest.mark.usefixtures("no_allocator")
def test_the_allocator_is_asked_at_each_launch(kernel: triton.compiler.CompiledKernel) -> None:
    asked = []
    memory = np.arange(1000, 1048, dtype=np.int64)

    def allocate(size: int, alignment: int, stream: int) -> Memory:
        asked.append((size, alignment, stream))
        return Memory(memory)

    _allocation.set_profile_allocator(allocate)
    x = np.zeros(6, np.int64)
    for _ in range(2):
        kernel[(2, 3, 1)](x)
    assert asked == [(6 * 64, 64, 0)] * 2
    expected = np.arange(1000, 1048, 8) + 2 * np.arange(6)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(memory[::8], expected)


@pytest.mark.usefixtures("no_allocator")
def test_without_an_allocator_the_memory_is_zero(kernel: triton.compiler.CompiledKernel) -> None:
    x = np.zeros(6, np.int64)
    for _ in range(2):
        kernel[(3, 2, 1)](x)
        np.testing.assert_array_equal(x, np.arange(6))
