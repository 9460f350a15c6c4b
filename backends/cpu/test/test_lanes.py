# SPDX-License-Identifier: Apache-2.0
"""Integers in lanes (base + pattern, or vectors) have the values of Python's integers, also at the ends of a range."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from support.cpu.lanes_programs import wrong_values
from support.integers import signed

pytestmark = pytest.mark.keeps_kernels

KERNELS = 48


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KERNELS))
def test_random_kernels(seed: int, tmp_path: Path) -> None:
    wrong = wrong_values(seed, tmp_path)
    assert not wrong, wrong[0]


@triton.jit
def narrowed(o):
    pid = tl.program_id(0)
    start = pid.to(tl.int64) * 2**31
    i = start.to(tl.int32) + tl.arange(0, 16)
    tl.store(o + pid * 16 + tl.arange(0, 16), i % 32)


def test_a_truncated_number_may_be_negative() -> None:
    o = torch.zeros(32, dtype=torch.int32)
    narrowed[(2,)](o)
    assert o.tolist() == [*range(16), 0, *range(-31, -16)]


@triton.jit
def multiplied(o, SIZE: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * SIZE + tl.arange(0, 16)
    tl.store(o + pid * 16 + tl.arange(0, 16), i % 32)


def test_a_product_that_wraps_may_be_negative() -> None:
    o = torch.zeros(48, dtype=torch.int32)
    multiplied[(3,)](o, SIZE=2**30)
    assert o.tolist() == [*range(16), *range(16), 0, *range(-31, -16)]


@triton.jit
def shifted(o, by):
    i = tl.arange(0, 16) - by
    tl.store(o + tl.arange(0, 16), i.to(tl.uint32).to(tl.int64))


def test_lanes_on_both_sides_of_zero() -> None:
    o = torch.zeros(16, dtype=torch.int64)
    shifted[(1,)](o, 5)
    assert o.tolist() == [(k - 5) % 2**32 for k in range(16)]


@triton.jit
def below(o, by):
    i = (by & 63) + tl.arange(0, 4) * -2
    tl.store(o + tl.arange(0, 4), i.to(tl.uint32).to(tl.int64))


def test_lanes_below_a_small_number() -> None:
    o = torch.zeros(4, dtype=torch.int64)
    below[(1,)](o, 5)
    assert o.tolist() == [5, 3, 1, 2**32 - 1]


@triton.jit
def rows(x, o, n, m, M: tl.constexpr, KNOWN: tl.constexpr):
    i = (tl.program_id(0) // n * m + tl.arange(0, 16)) % M
    tl.store(o + tl.program_id(0) * 16 + tl.arange(0, 16), tl.load(x + i))


def test_an_index_that_is_negative_because_a_divisor_is() -> None:
    """Lanes that are far apart are gathered; the launch is not refused."""
    x, o = np.arange(64, dtype=np.int32), np.zeros((4, 16), np.int32)
    rows[(4,)](x[32:], o, -1, 16, M=32, KNOWN=False)
    for pid in range(4):
        first = np.arange(16) - 16 * pid
        np.testing.assert_array_equal(o[pid], 32 + np.sign(first) * (np.abs(first) % 32))
    kernel = rows[(4,)](x[32:], o, 1, 16, M=32, KNOWN=False)
    np.testing.assert_array_equal(o, 32 + (np.arange(64).reshape(4, 16) % 32))
    # If the index is not negative, as in nearly every kernel, the load is contiguous.
    assert re.search(r"llvm\.load [^\n]*vector<\d+xi32>", kernel.asm["cpuir"])


@triton.jit
def hinted(x, at, o, KEPT: tl.constexpr, RUN: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    index = tl.max_contiguous(tl.load(at + i), RUN)
    if KEPT:
        tl.debug_barrier()  # the load of the indices must stay in front of the barrier
    tl.store(o + i, tl.load(x + index))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("run", [16, 64, 20])
def test_a_promise_of_contiguous_indices(kept: bool, run: int) -> None:
    n = 64
    x, o = np.arange(1000, 1512, dtype=np.float32), np.zeros(n, np.float32)
    at = (np.arange(n) // run * 100 + np.arange(n) % run).astype(np.int32)
    kernel = hinted[(1,)](x, at, o, KEPT=kept, RUN=run, N=n)
    np.testing.assert_array_equal(o, x[at])
    # Runs of 20 begin inside of groups of 16.
    assert ("masked.gather" in kernel.asm["llir"]) == (run == 20)


@triton.jit
def hinted_rows(x, at, which, o, N: tl.constexpr):
    i = tl.arange(0, N)
    index = tl.max_contiguous(tl.load(at + i[:, None] * N + i[None, :]), [1, N])
    # Neighbours along the last dimension come from different rows, so they are not contiguous.
    row = tl.load(which + i[:, None] * N + i[None, :])
    tl.store(o + i[:, None] * N + i[None, :], tl.load(x + tl.gather(index, row, 0)))


def test_a_promise_along_one_dimension_says_nothing_of_another() -> None:
    n = 16
    rng = np.random.default_rng(0)
    x, o = rng.standard_normal(4096).astype(np.float32), np.zeros((n, n), np.float32)
    at = (rng.permutation(200)[:n, None] * 20 + np.arange(n)).astype(np.int32)
    which = rng.integers(0, n, (n, n)).astype(np.int32)
    hinted_rows[(1,)](x, at, which, o, N=n)
    np.testing.assert_array_equal(o, x[np.take_along_axis(at, which, 0)])


@triton.jit
def hinted_pointers(table, o, N: tl.constexpr):
    i = tl.arange(0, N)
    pointers = tl.load(table + i).to(tl.pointer_type(tl.float32))
    pointers = tl.max_contiguous(pointers, N)
    tl.store(o + i, tl.load(pointers))


def test_a_promise_of_contiguous_pointers() -> None:
    x, o = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    table = x.ctypes.data + 4 * np.arange(8, 40)
    hinted_pointers[(1,)](table, o, N=32)
    np.testing.assert_array_equal(o, x[8:40])


@triton.jit
def ring(x, o, head, n, LOAD: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offset = (lane - head).to(tl.uint32)
    if LOAD:
        tl.store(o + lane, tl.load(x + offset, mask=offset < n, other=-1))
    else:
        tl.store(o + offset, lane, mask=offset < n)


@pytest.mark.parametrize("load", [True, False])
@pytest.mark.parametrize("head", [0, 1, 5, 16, 21, 33, 64, -3])
def test_addresses_on_both_sides_of_zero(load: bool, head: int) -> None:
    """The unsigned offsets of the lanes before `head` are about 2^32 larger than the others; these lanes are masked."""
    n, lanes = 24, np.arange(64)
    x, o = torch.arange(100, 100 + n, dtype=torch.int32), torch.full((64,), -1, dtype=torch.int32)
    ring[(4,)](x, o, head, n, LOAD=load, BLOCK=16)
    inside = (lanes - head >= 0) & (lanes - head < n)
    expected = np.full(64, -1)
    if load:
        expected[inside] = 100 + lanes[inside] - head
    else:
        expected[lanes[inside] - head] = lanes[inside]
    assert o.tolist() == expected.tolist()


@triton.jit
def around(x, o, starts, KIND: tl.constexpr, LOAD: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    i = tl.load(starts + tl.program_id(0))
    if KIND == "up":
        i = i + lane
    elif KIND == "down":
        i = i - lane
    elif KIND == "reversed":
        i = (BLOCK - 1) - lane + i
    elif KIND == "every other":
        i = i + 2 * lane
    elif KIND == "extended":
        i = (i + lane).to(tl.int64)
    elif KIND == "extended, then moved":
        i = (i + lane + 5).to(tl.int64) - 5
    elif KIND == "rows":
        i = i + lane % 16 + lane // 16 * 17
    elif KIND == "not negative":
        i = (i & (2**31 - 49)) + lane  # the last group starts at 2^31 - 1
    elif KIND == "narrowed":
        i = (i.to(tl.int64) * 2**32 + i + lane).to(tl.int32)
    keep = (i & 7) != 3
    if LOAD == "plain":
        tl.store(o + tl.program_id(0) * BLOCK + lane, tl.load(x + i))
    elif LOAD == "masked":
        tl.store(o + tl.program_id(0) * BLOCK + lane, tl.load(x + i, mask=keep, other=7))
    elif LOAD == "masked store":
        tl.store(x + i, (i % 251 - 125).to(tl.int8), mask=keep)
    else:
        tl.store(x + i, (i % 251 - 125).to(tl.int8))


ROUND, SPACE = 64, 4096
OFFSETS = {
    "up": lambda i, lane: i + lane,
    "down": lambda i, lane: i - lane,
    "reversed": lambda i, lane: i + ROUND - 1 - lane,
    "every other": lambda i, lane: i + 2 * lane,
    "extended": lambda i, lane: i + lane,
    "extended, then moved": lambda i, lane: signed(i + lane + 5, 32) - 5,
    "rows": lambda i, lane: i + lane % 16 + lane // 16 * 17,
    "not negative": lambda i, lane: (i & (2**31 - 49)) + lane,
    "narrowed": lambda i, lane: i + lane,
}


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> NDArray[np.int8]:
    """The memory that a 32-bit offset from the middle reaches, plus some at both ends, in a sparse file."""
    file = tmp_path_factory.mktemp("lanes") / "memory"
    return np.memmap(file, np.int8, "w+", shape=(2**32 + 2 * SPACE,))


@pytest.mark.sampled
@pytest.mark.parametrize("load", ["plain", "masked", "store", "masked store"])
@pytest.mark.parametrize("kind", OFFSETS)
def test_addresses_at_the_ends_of_32_bits(kind: str, load: str, everywhere: NDArray[np.int8]) -> None:
    """Offsets wrap inside a group of lanes, inside a tile and between tiles, at every place near the ends."""
    starts = signed(np.arange(2**31 - 3 * ROUND, 2**31 + 3 * ROUND), 32)
    offsets = OFFSETS[kind](starts[:, None], np.arange(ROUND))
    if "extended, then" not in kind:
        offsets = signed(offsets, 32)
    keep = (offsets & 7) != 3 if "masked" in load else np.ones_like(offsets, np.bool_)
    middle = 2**31 + SPACE
    ends = [(np.arange(-SPACE, SPACE) + end) for end in (-(2**31), 0, 2**31)]
    for end in ends:
        everywhere[end + middle] = 0 if "store" in load else end % 241 - 120
    out = np.zeros(offsets.shape, np.int8)
    around[(len(starts),)](everywhere[middle:], out, starts.astype(np.int32), KIND=kind, LOAD=load, BLOCK=ROUND)
    if "store" in load:
        stored = np.unique(offsets[keep])
        remainder = stored - 251 * np.trunc(stored / 251).astype(np.int64)
        for end in ends:
            expected = np.zeros(len(end), np.int8)
            isThere = np.isin(end, stored)
            expected[isThere] = (remainder[np.isin(stored, end)] - 125).astype(np.int8)
            np.testing.assert_array_equal(everywhere[end + middle], expected)
    else:
        np.testing.assert_array_equal(out, np.where(keep, offsets % 241 - 120, 7))


@triton.jit
def usual(x, o, n, stride, KIND: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    i = pid * BLOCK + lane
    if KIND == "block":
        at = i
    elif KIND == "row":
        x += pid * stride
        at = lane
    elif KIND == "even stride":
        at = pid * (stride * 16) + lane
    elif KIND == "any stride":
        at = pid * stride + lane
    elif KIND == "shifted":
        at = i + 1
    elif KIND == "reversed":
        at = n - 1 - i
    tl.store(o + i, tl.load(x + at))


AT = {
    "block": lambda pid, lane: pid * len(lane) + lane,
    "row": lambda pid, lane: pid * 67 + lane,
    "even stride": lambda pid, lane: pid * 67 * 16 + lane,
    "any stride": lambda pid, lane: pid * 67 + lane,
    "shifted": lambda pid, lane: pid * len(lane) + lane + 1,
    "reversed": lambda pid, lane: 4096 - 1 - pid * len(lane) - lane,
}


@pytest.mark.parametrize("kind", AT)
def test_a_loop_over_a_tile_has_vector_loads_and_no_branch(kind: str) -> None:
    """If a tile is a multiple of 16, the kernel does not test whether offsets wrap; else it tests once for the tile."""
    block = 1024
    x, o = torch.rand(8192), torch.zeros(2 * block)
    kernel = usual[(2,)](x, o, 4096, 67, KIND=kind, BLOCK=block)
    at = torch.cat([torch.from_numpy(AT[kind](pid, np.arange(block))) for pid in range(2)])
    assert torch.equal(o, x[at])
    ir = kernel.asm["llir"]
    assert ("masked.gather" in ir) == (kind in ("any stride", "shifted", "reversed"))
    loops = [text for text in re.split(r"\n(?=\S*:)", ir) if re.search(r"load <\d+ x float>", text)]
    assert loops
    for text in loops:
        label = text[: text.index(":")]
        assert re.search(rf"br i1 \S+ label %{re.escape(label)},", text), "the loop is more than one block"
        assert text.count("\n  br ") == 1
