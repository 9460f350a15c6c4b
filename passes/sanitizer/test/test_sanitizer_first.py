# SPDX-License-Identifier: Apache-2.0
"""Kernels that keep the first lane of an access at loaded indices, which compile faster than those that count.

On a GPU of NVIDIA that is assembly, on one of AMD operations of LLVM; small machines below execute both. On the
processor it is made of operations of Triton, so the host's side runs here as it does there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import example, given, settings
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext as tx
from support.probe.ptx import Machine, assemblies_in
from support.probe.scalars import Machine as Scalars
from support.sanitizer.first_lanes import keep_first_lanes

MAGIC = 0x31304C53_4F525054
NVIDIA, AMD = GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)


@pytest.fixture(autouse=True)
def first_lanes(on_native_backend: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run on this machine's processor, and keep first lanes."""
    keep_first_lanes(monkeypatch)


@triton.jit
def gather(x, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + j, mask=i < n), mask=i < n)


@triton.jit
def rows(x, index, out, R: tl.constexpr, C: tl.constexpr):
    r = (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * R + tl.arange(0, R)
    at = tl.load(index + r)[:, None] + tl.arange(0, C)[None, :]
    tl.store(out + r[:, None] * C + tl.arange(0, C)[None, :], tl.load(x + at))


def line_of(kernel: Any, text: str) -> int:
    lines, first = kernel.raw_src, kernel.starting_line_number
    return next(first + number for number, line in enumerate(lines) if text in line)


def memory(size: int, dtype: Any = np.float32) -> Any:
    """Returns an array of ones in a larger one, so that a load behind it reads what is there."""
    return np.ones(4 * size, dtype)[size : 2 * size]


def test_the_first_lane_of_the_first_program() -> None:
    x, out, index = memory(100), np.zeros(1024, np.float32), np.zeros(1024, np.int32)
    index[[300, 301, 700]] = 100, -7, 150
    with tx.sanitize() as report:
        kernel = gather[(8,)](x, index, out, 1024, B=128)
    assert "outside" in kernel.asm["ttir"]
    (one,) = report.findings
    assert (one.check, one.line, one.argument, one.access) == ("view", line_of(gather, "tl.load(x + j"), "x", "load")
    assert (one.program, one.lane, one.coordinates, one.distance) == ((2, 0, 0), 300 - 256, (100,), 4)
    assert (one.lanes, one.at_least, one.counted) == (1, True, False)
    assert "count: at least 1 lane in at least 1 program" in report.text()
    assert tx.sanitize._report.read(report.json()).findings == [one]


def test_a_lane_out_of_memory_comes_first() -> None:
    """The view ends in the middle of the memory: lane 3 is out of the view only, lane 90 out of the memory."""
    whole = np.ones(200, np.float32)
    index = np.zeros(128, np.int32)
    index[[3, 90]] = 150, 200
    with tx.sanitize("bounds") as report:
        gather[(1,)](whole[:100], index, np.zeros(128, np.float32), 128, B=128)
    (one,) = report.findings
    assert (one.check, one.severity, one.lane, one.coordinates) == ("bounds", "error", 90, (200,))


def test_launches_with_a_finding_are_counted_from_the_next_one_on() -> None:
    x, out, index = memory(100), np.zeros(256, np.float32), np.zeros(256, np.int32)
    index[200:] = 100
    with tx.sanitize("bounds") as report:
        first = gather[(2,)](x, index, out, 256, B=128)
        assert [one.lanes for one in report.findings] == [1]
        gather[(2,)](x, index, out, 256, B=128)
        gather[(2,)](x, index, out, 200, B=128)
    (one,) = report.findings
    assert (one.program, one.lane, one.lanes, one.counted) == ((1, 0, 0), 72, 1 + 56, False)
    assert first is not None


def test_each_launch_raises() -> None:
    x, out, index = memory(100), np.zeros(128, np.float32), np.full(128, 100, np.int32)
    with tx.sanitize("bounds", raises=True):
        for lanes in ("at least 1 lane", "128 lanes", "128 lanes"):
            with pytest.raises(tx.sanitize.SanitizerError, match=f"count: (at least )?{lanes}"):
                gather[(1,)](x, index, out, 128, B=128)
        gather[(1,)](x, np.zeros(128, np.int32), out, 128, B=128)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 15)), max_size=4), st.sampled_from([(12, 1), (3, 4)]))
@example([(11, 15)], (3, 4))
@example([(5, 0), (4, 9)], (3, 4))
def test_rows(wrong: list[tuple[int, int]], grid: tuple[int, int]) -> None:
    """Some rows are too large by one element or more, in programs of two axes."""
    x = memory(64)
    index = np.zeros(12 * 4, np.int32)
    for program, distance in wrong:
        index[program * 4 + distance % 4] = 49 + distance
    with tx.sanitize("bounds") as report:
        rows[grid](x, index, np.zeros(12 * 4 * 16, np.float32), R=4, C=16)
    bad = [(number // 4, number % 4, 64 - int(start)) for number, start in enumerate(index) if start > 48]
    if not bad:
        assert not report.findings
        return
    program, row, column = bad[0]
    (one,) = report.findings
    assert one.program == (program % grid[0], program // grid[0], 0)
    assert (one.lane, one.coordinates) == (row * 16 + column, (64,))


def test_a_store_of_other_values_to_the_indices_changes_nothing() -> None:
    """The kernel overwrites its indices, so nobody could look again; what was found stays."""
    x, index = memory(100, np.int32), np.zeros(128, np.int32)
    index[77] = 130
    with tx.sanitize("bounds") as report:
        gather[(1,)](x, index, index, 128, B=128)
    assert set(index) == {1}
    (one,) = report.findings
    assert (one.lane, one.coordinates) == (77, (130,))


@pytest.mark.parametrize(
    "test",
    [
        test_the_first_lane_of_the_first_program,
        test_a_lane_out_of_memory_comes_first,
        test_launches_with_a_finding_are_counted_from_the_next_one_on,
        test_a_store_of_other_values_to_the_indices_changes_nothing,
    ],
)
def test_without_assembly(monkeypatch: pytest.MonkeyPatch, test: Callable[[], None]) -> None:
    """A GPU of NVIDIA finds the same with the operations that other GPUs have."""
    keep_first_lanes(monkeypatch, has_assembly=False)
    test()


def compiled(B: int, warps: int = 4, kernel: Any = gather, target: GPUTarget = NVIDIA, **options: bool) -> Any:
    signature = {"x": "*fp32", "index": "*i32", "out": "*fp32", "n": "i32", "B": "constexpr"}
    source = ASTSource(kernel, signature=signature, constexprs={"B": B})
    with tx.sanitize(**options):
        return triton.compile(source, target=target, options={"num_warps": warps})


def test_a_kernel_for_a_gpu_moves_no_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # as users compile it
    kernel = compiled(1024)
    assert "bar.sync" not in kernel.asm["ptx"]
    assert "shfl" not in kernel.asm["ptx"]
    assert kernel.asm["ptx"].count("atom.global.max.u64") == 2
    assert compiled(64).asm["ptx"].count("atom.global.max.u64") == 2
    assert "atom.global.max.u64" not in compiled(8192).asm["ptx"]  # reductions, which large tiles share


def test_a_kernel_for_amd_moves_no_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its program has no shared memory, and Triton links no library for the size of the grid."""
    monkeypatch.undo()
    kernel = compiled(1024, target=AMD)
    assert kernel.metadata.shared == 0
    assert kernel.asm["amdgcn"].count("global_atomic_umax_x2") == 2
    assert "s_barrier" not in kernel.asm["amdgcn"]
    assert "@__ockl_get_num_groups" in kernel.asm["ttgir"]


ADDRESSES = [0, 899, 900, 999, 1000, 1200, 1396, 1397, 1400, 1497, 2**63 - 8, -8]
SIZES = {32: 1, 512: 4, 1024: 8}


LOW, HIGH = 900, 1500
#: Parts of this memory; the second one is empty.
VIEWS = st.sampled_from([(1000, 1400), (1000, 1000)])
PROGRAMS = st.sampled_from([(0, 0, 0), (5, 0, 0), (6, 2, 1), (2**31 - 2, 1, 4)])


def lanes_of_four_threads(lanes: int) -> Any:
    """Returns a strategy for the masks and addresses of lanes."""
    one = st.tuples(st.booleans(), st.sampled_from(ADDRESSES))
    return st.lists(one, min_size=4 * lanes, max_size=4 * lanes)


def assert_first(slot: list[int], content: list[tuple[bool, int]], number: int) -> None:
    """Checks that the words behind those of the arguments have the first lane of the program with this number."""
    start, end = slot[10:12]
    outside = [
        (LOW <= at <= HIGH - 4, lane, at)
        for lane, (on, at) in enumerate(content)
        if on and not start <= at <= end - 4
    ]  # fmt: skip
    if not outside or not slot[0]:
        assert slot[40:] == [0] * 4
        return
    is_soft, lane, at = min(outside)
    key = (0 if is_soft else 2**63) + 2**63 - 1 - (number << 20) - lane
    assert [slot[40], slot[42], slot[43]] == [key, at % 2**64, key]


@pytest.mark.slow
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_the_assembly(size: int, static: bool) -> None:
    """Each thread looks at its lanes, in any order; the slot then has the first lane of the launch.

    If other assembly of the kernel finds the slot, too, it is told the address, or 0.
    """
    kernel = compiled(size, static=static)
    (one,) = (one for one in assemblies_in(kernel.asm["ttir"]) if "atom" in one.text)
    text, lanes = one.text, one.packed
    assert lanes == SIZES[size]
    where = 2**33

    @settings(deadline=None)
    @given(lanes_of_four_threads(lanes), st.permutations(range(4)), st.booleans(), PROGRAMS, VIEWS)
    def check(
        content: list[tuple[bool, int]],
        order: list[int],
        has_slot: bool,
        program: tuple[int, int, int],
        view: tuple[int, int],
    ) -> None:
        slot = [0] * 44
        slot[0] = MAGIC if has_slot else 0
        slot[8:12] = LOW, HIGH, *view
        machine = Machine(text, slot, where)
        (x, y, z), sizes = program, (program[0] + 1, 3)
        number = (z * sizes[1] + y) * sizes[0] + x
        special = {f"%ctaid.{axis}": own for axis, own in zip("xyz", program, strict=True)}
        special |= {f"%nctaid.{axis}": size for axis, size in zip("xy", sizes, strict=True)}
        for thread in order:
            part = range(thread * lanes, (thread + 1) * lanes)
            on, at = [int(content[i][0]) for i in part], [content[i][1] for i in part]
            # Where Triton has the program's own part.
            scratch = where + number * 2048 if static else where * has_slot
            machine.run([*[0] * lanes, *on, *at, *part, *[scratch] * lanes], special)
        assert_first(slot, content, number)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("target", [NVIDIA, AMD], ids=["cuda", "hip"])
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("size", [64, 2048])
def test_the_operations(monkeypatch: pytest.MonkeyPatch, size: int, static: bool, target: GPUTarget) -> None:
    """The same of what other GPUs have in place of the assembly, and a GPU of NVIDIA, too, if it is told so."""
    keep_first_lanes(monkeypatch, has_assembly=False)
    module = compiled(size, target=target, static=static).asm["ttgir"]
    assert "inline_asm" not in module
    where = 2**33
    lanes = Scalars(module, {}, 0, {}).pack
    assert lanes == min(max(size // (4 * target.warp_size), 1), 8)

    @settings(deadline=None)
    @given(lanes_of_four_threads(lanes), st.permutations(range(4)), st.booleans(), PROGRAMS, VIEWS)
    def check(
        content: list[tuple[bool, int]],
        order: list[int],
        has_slot: bool,
        program: tuple[int, int, int],
        view: tuple[int, int],
    ) -> None:
        slot = [0] * 48
        slot[0] = MAGIC if has_slot else 0
        slot[8:12] = LOW, HIGH, *view
        (x, y, z), (w, h) = program, (program[0] + 1, 3)
        number = (z * h + y) * w + x
        memory = {where + 8 * i: word for i, word in enumerate(slot)}
        machine = Scalars(module, memory, where + number * 2048, {"x": (x, w), "y": (y, h), "z": (z, 5)})
        machine.start()
        for thread in order:
            part = range(thread * lanes, (thread + 1) * lanes)
            machine.look([int(content[i][0]) for i in part], [content[i][1] for i in part], part)
        assert_first(list(memory.values())[:44], content, number)

    check()
