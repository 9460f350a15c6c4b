# SPDX-License-Identifier: Apache-2.0
"""A race names both programs and both lines; elements of one byte race, too, and their neighbours do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton_ext.sanitize import _partners
from triton_ext.sanitize._footprints import Footprint, touching

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend", "ways_to_look"), pytest.mark.keeps_kernels]


@triton.jit
def blocks(out, step, B: tl.constexpr):
    i = tl.program_id(0) * step + tl.arange(0, B)
    tl.store(out + i, (i * 0 + 1).to(tl.float32).to(out.dtype.element_ty))


@triton.jit
def scattered(out, index, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + tl.load(index + i), (i * 0 + 1).to(tl.float32).to(out.dtype.element_ty))


@triton.jit
def marked(out, marks, index, B: tl.constexpr):
    """Reads marks, which other programs set at indices from memory."""
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(marks + i)
    tl.store(out + i, v)
    tl.store(marks + tl.load(index + pid), 1)


@triton.jit
def read_by_all(x, out, n, writer, B: tl.constexpr):
    """One program writes the first tile of x, and all programs read all tiles."""
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    if pid == writer:
        tl.store(x + i, (i * 0 + 1).to(tl.float32).to(x.dtype.element_ty))
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        total += tl.load(x + start + i).to(tl.float32)
    tl.store(out + pid * B + i, total)


def races(kernel: Any, grid: int, *arguments: Any, **options: Any) -> list[Any]:
    with tx.sanitize("race") as report:
        kernel[(grid,)](*arguments, **options)
    assert report.counts()["unsupported"] == 0
    assert {one.check for one in report.findings} <= {"race"}
    return report.findings


BYTES = [torch.int8, torch.uint8, torch.bool, torch.float8_e5m2]


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "bits"), [(torch.int8, 8), (torch.float16, 16), (torch.float32, 16)])
@pytest.mark.parametrize("writer", [0, 255])
def test_words_that_have_all_numbers_of_readers(dtype: torch.dtype, bits: int, writer: int) -> None:
    """One thread runs the programs in their order, so each one after the writer finds the race, if its bits differ.

    If the writer is the last one, it finds those that have read. The words have all bits of readers before the last
    ones come.
    """
    B, grid = 32, 256  # noqa: N806
    x, out = torch.zeros(2 * B).to(dtype), torch.zeros(grid * B)
    found = races(read_by_all, grid, x, out, 2 * B, writer, B=B, num_threads=1)
    numbers = _partners.numbers_of(np.arange(grid), bits, 0)
    finding = 1 if writer else int((numbers != numbers[0]).sum())
    assert [(one.access, one.lanes) for one in found] == [("store" if writer else "load", B * finding)]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*BYTES, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("start", [0, 1, 3])
def test_neighbours(dtype: torch.dtype, start: int) -> None:
    """Programs that write neighbouring elements do not race; those that share one do, and both are named."""
    memory = torch.zeros(200).to(dtype)
    with tx.sanitize("race", static=False) as report:
        blocks[(5,)](memory[start:], 16, B=16)
    assert report.findings == []
    assert report.counts() == {"proved": 0, "checked": 1, "unsupported": 0}
    (found,) = races(blocks, 5, memory[start:], 15, B=16)
    assert found.lanes == 4
    assert found.other is not None
    assert abs(found.other[0] - found.program[0]) == 1
    assert found.coordinates == (15 * max(found.other[0], found.program[0]),)
    line = blocks.fn.__code__.co_firstlineno + 3
    assert found.line == line
    assert [(one[1], one[2]) for one in found.related] == [
        (line, f"the other access, a store of program {found.other}")
    ]
    assert f"which program {found.other} touches, too" in found.message


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "grid"), [(torch.int8, 64), (torch.float16, 1000), (torch.float32, 1000)])
def test_indices_from_memory(dtype: torch.dtype, grid: int) -> None:
    """The shadow's bits alone name the other program, because the host does not know the addresses."""
    index = torch.randperm(grid * 4, generator=torch.Generator().manual_seed(1))
    assert races(scattered, grid, torch.zeros(grid * 4).to(dtype), index, B=4) == []
    index[4 * (grid - 2)] = index[5]
    (found,) = races(scattered, grid, torch.zeros(grid * 4).to(dtype), index, B=4)
    assert {found.program[0], found.other[0]} == {1, grid - 2}
    assert found.coordinates == (int(index[5]),)


@pytest.mark.slow
def test_several_programs_with_the_same_bits() -> None:
    """Of 256 programs that scatter bytes, 4 have the same code."""
    index = torch.randperm(1024, generator=torch.Generator().manual_seed(1))
    index[800] = index[5]
    (found,) = races(scattered, 256, torch.zeros(1024, dtype=torch.int8), index, B=4)
    assert found.other is None
    ((_, _, what),) = found.related
    assert what.startswith("the other access, a store of one of ")
    assert "which another program of the launch touches, too" in found.message


@pytest.mark.slow
def test_the_other_line() -> None:
    """The set of the shadow says whether the other program has read or written."""
    marks, index = torch.zeros(64, dtype=torch.int32), torch.arange(4, dtype=torch.int32) * 16
    assert races(marked, 4, torch.zeros(64), marks, index, B=16) == []
    index[1] = 40
    found = races(marked, 4, torch.zeros(64), marks, index, B=16)
    first = marked.fn.__code__.co_firstlineno
    load, store = first + 5, first + 7
    (one,) = found
    assert (one.line, one.related[0][1]) in {(load, store), (store, load)}
    assert {one.program[0], one.other[0]} == {1, 2}
    assert one.coordinates == (40,)


def test_a_set_shows_that_it_has_two_programs() -> None:
    """Different codes have equally many bits, so their disjunction has more: two programs are never taken for one."""
    for bits in range(2, 25):
        codes = np.unique(_partners.codes_of(np.arange(1 << 16), bits, 0))
        numbers = np.unique(_partners.numbers_of(np.arange(1 << 16), bits, 0))
        assert len(codes) == len(numbers) == min(1 << bits // 8 * 6 + bits % 8 // 2, 1 << 16)
        assert codes.min() > 0
        assert codes.max() < 1 << bits
        assert {int(code).bit_count() for code in codes} == {_partners._weight(bits)}


@pytest.mark.slow
def test_programs_that_are_alike_in_one_launch_differ_in_the_next() -> None:
    programs = np.arange(1 << 16)
    for bits in (2, 4, 5, 8, 10, 14, 16):
        numbers = [_partners.numbers_of(programs, bits, salt) for salt in range(_partners.SALTS)]
        alike = np.flatnonzero(numbers[0] == numbers[0][77])
        for number in numbers[1:]:
            both = np.sum(number[alike] == number[77])  # also program 77 itself
            assert both <= 1 + 2 * len(alike) / (1 + numbers[0].max())
    pair = next(
        (a, b)
        for a in range(256)
        for b in range(a + 1, 256)
        if np.ptp(_partners.numbers_of(np.array([a, b]), 8, 0)) == 0
    )  # fmt: skip
    index = torch.randperm(1024, generator=torch.Generator().manual_seed(1))
    index[4 * pair[1]] = index[4 * pair[0]]
    out = torch.zeros(1024, dtype=torch.int8)
    with tx.sanitize("race") as report:
        scattered[(256,)](out, index, B=4)
        assert report.findings == []
        for _ in range(_partners.SALTS - 1):
            scattered[(256,)](out, index, B=4)
        assert [one.check for one in report.findings] == ["race"]


@triton.jit
def in_two_sizes(words, halves, out):
    pid = tl.program_id(0)
    tl.store(words + pid, pid)
    tl.store(out + pid, tl.load(halves + 2 * pid))


@pytest.mark.slow
@pytest.mark.parametrize("static", [False, True])
def test_elements_of_two_sizes_in_one_storage(static: bool) -> None:
    """Each program reads a half of the word that it has written. The words of the shadow would not know that."""
    words, out = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int16)
    with tx.sanitize("race", static=static) as report:
        in_two_sizes[(8,)](words, words.view(torch.int16), out)
    assert report.findings == []
    assert report.counts() == ({"proved": 3, "checked": 0, "unsupported": 0} if static else
                               {"proved": 0, "checked": 1, "unsupported": 2})  # fmt: skip


@pytest.mark.slow
@settings(max_examples=200, deadline=None, database=None)
@given(
    first=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    run=st.integers(0, 5),
    levels=st.lists(st.tuples(st.integers(2, 30), st.integers(1, 4)), max_size=2),
    byte=st.integers(0, 120),
    size=st.sampled_from([1, 4]),
)
def test_programs_that_touch_a_byte(
    first: list[int], run: int, levels: list[tuple[int, int]], byte: int, size: int
) -> None:
    levels = [(1, run), *sorted(levels)]
    bytes_ = {0}
    for unit, reach in levels:
        bytes_ = {one + unit * turn for one in bytes_ for turn in range(reach + 1)}
    wanted = [i for i, start in enumerate(first) if any(at - start in bytes_ for at in range(byte, byte + size))]
    footprint = Footprint(np.arange(len(first)), np.array(first), levels)
    assert touching(footprint, byte, size).tolist() == wanted
