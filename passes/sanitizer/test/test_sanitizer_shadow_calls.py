# SPDX-License-Identifier: Apache-2.0
"""Looks at shadows by functions of the CPU backend's runtime find what the code in kernels finds, lane by lane."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("triton_ext.backends.cpu.driver")

import numpy as np
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from triton_ext.backends.cpu import _library
from triton_ext.probe._layout import SLOT_MAGIC
from triton_ext.sanitize import _looks
from triton_ext.sanitize._partners import SALTS, codes_of

import triton_ext as tx
from support.sanitizer.looking import always_look

pytestmark = [pytest.mark.usefixtures("on_cpu"), pytest.mark.keeps_kernels]

DTYPES = st.sampled_from([torch.int8, torch.float16, torch.float32, torch.float64])
generated = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)


# Otherwise nearly every example would be another kernel: for numbers that are 1, multiples of 16, or neither.
@triton.jit(do_not_specialize=["apart", "low", "high", "every"])
def touch(x, y, step, apart, low, high, every, B: tl.constexpr):  # noqa: PLR0917
    """A program stores to some lanes of a tile, and loads others of the next one."""
    i = tl.arange(0, B)
    at = tl.program_id(0) * apart + i * step
    tl.store(x + at, 1, mask=(i >= low) & (i < high) & (i % every != 1))
    tl.store(y + tl.program_id(0) * B + i, tl.load(x + at + B // 2, mask=(i < high), other=0))


@triton.jit
def scatter(x, index, y, B: tl.constexpr):
    """Adds to elements, and reads them, at indices from memory; the first element of each tile is a scalar."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(index + i)
    tl.atomic_add(x + j, 1, mask=j % 3 == 0)
    tl.store(x + j, 2, mask=j % 3 == 1)
    tl.store(y + i, tl.load(x + j, mask=j % 3 != 0, other=0))
    tl.store(x + tl.load(index + tl.program_id(0) * B), tl.load(x))


def assert_same(monkeypatch: pytest.MonkeyPatch, run: Callable[[], None]) -> list[Any]:
    """Returns the findings of what `run` launches, which have to be the same with calls and without."""
    always_look(monkeypatch)
    found = []
    for calls in (True, False):
        monkeypatch.setattr(_looks, "CALLS", calls)
        with tx.sanitize("uninit,race", static=False) as report:
            run()
        found.append(
            [
                (one.check, one.line, one.argument, one.program, one.lane, one.coordinates, one.lanes, one.message)
                for one in report.findings
            ]
        )
    assert found[0] == found[1]
    return found[0]


@pytest.mark.slow
@generated
@given(
    dtype=DTYPES, step=st.sampled_from([1, 1, 2, 0, -1]), apart=st.integers(0, 300), low=st.integers(0, 200),
    high=st.integers(0, 256), every=st.sampled_from([1000, 2, 5]), shift=st.integers(0, 5),
)  # fmt: skip
@example(dtype=torch.float32, step=1, apart=256, low=0, high=256, every=1000, shift=0)
@example(dtype=torch.float32, step=1, apart=128, low=0, high=256, every=1000, shift=3)
def test_tiles(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, shift: int, **numbers: int) -> None:
    def run() -> None:
        x, y = torch.empty(2048, dtype=dtype), torch.zeros(1024, dtype=dtype)
        touch[(4,)](x[512 + shift :], y, **numbers, B=256, num_threads=1)

    assert_same(monkeypatch, run)


@pytest.mark.slow
@generated
@given(dtype=st.sampled_from([torch.int32, torch.float32, torch.float64]), size=st.integers(1, 300), seed=st.integers())
def test_indices_from_memory(monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, size: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed % 2**32)
    index = torch.randint(0, size, (128,), generator=generator)

    def run() -> None:
        x, y = torch.empty(size, dtype=dtype), torch.zeros(128, dtype=dtype)
        scatter[(4,)](x, index, y, B=32, num_threads=1)

    assert {found[0] for found in assert_same(monkeypatch, run)} >= {"uninit"}


@triton.jit
def write(x, apart, B: tl.constexpr):
    tl.store(x + tl.program_id(0) * apart + tl.arange(0, B), 1)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize(("apart", "programs"), [(0, 100), (1, 100), (100, 500), (256, 500)])
def test_threads(dtype: torch.dtype, apart: int, programs: int) -> None:
    """Each program but the first one of an element finds another one there, whatever the threads do. A number of a
    program has 4 bits or more.
    """
    programs = min(programs, 16) if dtype == torch.int8 else programs
    x = torch.zeros(programs * apart + 256, dtype=dtype)
    times = torch.zeros(len(x), dtype=torch.int64)
    for program in range(programs):
        times[program * apart : program * apart + 256] += 1
    with tx.sanitize("race", static=False) as report:
        write[(programs,)](x, apart, B=256)
    assert sum(one.lanes for one in report.findings) == int((times - 1).clamp(min=0).sum())


@triton.jit
def write_from(x, starts, B: tl.constexpr):
    tl.store(x + tl.load(starts + tl.program_id(0)) + tl.arange(0, B), 1)


def test_a_block_that_gets_words_keeps_its_programs() -> None:
    """A block has 128 elements. The second program touches a part of the second block, which so gets words for each of
    its elements; the third one finds the first one in all of them.
    """
    with tx.sanitize("race", static=False) as report:
        write_from[(3,)](torch.zeros(512), torch.tensor([0, 200, 100]), B=256, num_threads=1)
    assert sum(one.lanes for one in report.findings) == 56 + 256


def test_programs_of_different_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles that overlap: the next program stores to what one has read, which nothing had written before."""

    def run() -> None:
        x, y = torch.empty(1024), torch.zeros(1024)
        touch[(4,)](x, y, 1, 128, 0, 200, 5, B=256, num_threads=1)

    found = {(check, argument) for check, _, argument, *_ in assert_same(monkeypatch, run)}
    assert found == {("uninit", "x"), ("race", "x")}


def test_each_launch_begins_without_programs() -> None:
    """A program of the second launch stores to what another one of the first launch has stored to."""
    x = torch.zeros(2048)
    with tx.sanitize("race", static=False) as report:
        write[(4,)](x, 256, B=256)
        write[(4,)](x[256:], 256, B=256)
        write[(4,)](x[100:], 256, B=256)
    assert report.counts()["checked"] == 1
    assert not report.findings, report.text()


@triton.jit
def read_the_first(x, B: tl.constexpr):
    """All programs read the first tile, and each stores to one behind it."""
    i = tl.arange(0, B)
    tl.store(x + (tl.program_id(0) + 1) * B + i, tl.load(x + i))


@pytest.mark.parametrize("shift", [0, 3])
def test_programs_that_read_the_same(shift: int) -> None:
    with tx.sanitize("race", static=False) as report:
        read_the_first[(4,)](torch.zeros(2048)[shift:], B=256)
    assert report.counts()["checked"] == 2
    assert not report.findings, report.text()


def code_in_word(program: int, bits: int, salt: int, lock: int = 0) -> int:
    """Returns what a store of a program adds to the word of a block, by a call of the runtime. The word has one set,
    and behind it that of the locks.
    """
    memory, shadow = (ctypes.c_int64 * 64)(), (ctypes.c_uint64 * 256)()
    shadow[0] = 1  # the number of the launch; from 64 bytes on, a state and a word for each block
    start = ctypes.addressof(memory)
    slot = (ctypes.c_int64 * 64)(SLOT_MAGIC)
    slot[8:10], slot[13] = [start, start + 512], ctypes.addressof(shadow) + salt
    offsets = (ctypes.c_int64 * 64)(*range(64))
    numbers = map(ctypes.c_int64, [8, 40, 0, 8, bits | 1 << 16, 64, start, 8, program, lock])
    _library.runtime().triton_ext_cpu_look_for_races(0, 0, 0, slot, *numbers, offsets)
    return shadow[9]


@pytest.mark.parametrize("salt", range(SALTS))
def test_codes(salt: int) -> None:
    """The runtime computes those that the host does, which also knows those of kernels."""
    programs = np.array([0, 1, 63, 64, 4097, 70_000, 2**20 + 3, 2**31 - 2])
    for bits in range(2, 25):
        found = [code_in_word(program, bits, salt) for program in programs.tolist()]
        assert found == codes_of(programs, bits, salt).tolist(), bits
        both = [code_in_word(5, bits, salt, lock) for lock in programs[1:].tolist()]
        assert both == (codes_of(programs[1:], bits, salt) << bits | codes_of(np.array([5]), bits, salt)).tolist(), bits


@triton.jit
def write_some(x, B: tl.constexpr):
    """Stores to all lanes but one."""
    i = tl.arange(0, B)
    tl.store(x + i, 1, mask=i != 100)


@triton.jit
def write_ends(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1, mask=(i < 9) | (i > 245))


@triton.jit
def read_all(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))


@pytest.mark.parametrize(("kernel", "lane", "lanes"), [(write_some, 100, 1), (write_ends, 9, 237)])
def test_unwritten_lanes(monkeypatch: pytest.MonkeyPatch, kernel: Any, lane: int, lanes: int) -> None:
    always_look(monkeypatch)
    with tx.sanitize("uninit") as report:
        x = torch.empty(256)
        kernel[(1,)](x, B=256)
        read_all[(1,)](x, torch.zeros(256), B=256)
    found = [(one.check, one.argument, one.lane, one.lanes) for one in report.findings]
    assert found == [("uninit", "x", lane, lanes)]


def test_a_kernel_calls_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each access and check, without atomic operations of its own."""
    with tx.sanitize("uninit,race", static=False):
        kernel = write[(2,)](torch.zeros(512), 256, B=256)
        code = kernel.asm["ttir"]
        assert code.count("triton_ext_cpu_look_at_bits") == code.count("triton_ext_cpu_look_for_races") == 1
        assert "tt.atomic_rmw or" not in code
    monkeypatch.setattr(_looks, "CALLS", False)
    with tx.sanitize("uninit,race", static=False):
        kernel = write[(2,)](torch.zeros(512), 256, B=256)
        assert "triton_ext_cpu_look" not in kernel.asm["ttir"]
        assert "tt.atomic_rmw or" in kernel.asm["ttir"]
