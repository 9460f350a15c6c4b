# SPDX-License-Identifier: Apache-2.0
"""What a launch decides to need no shadow has no race, and looks that are behind a loop find what was read in it."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from triton.backends.compiler import GPUTarget
from triton_ext.sanitize import _races, _shadows

import triton_ext as tx
from triton_ext.errors import PipelineError

pytestmark = [pytest.mark.usefixtures("on_native_backend", "ways_to_look"), pytest.mark.keeps_kernels]

generated = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)


@triton.jit
def grouped(out, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):  # noqa: PLR0917
    """Writes tiles of a matrix, in the order of a matrix product."""
    pid = tl.program_id(0)
    width = GROUP * tl.cdiv(N, BN)
    first = pid // width * GROUP
    height = min(tl.cdiv(M, BM) - first, GROUP)
    m = (first + pid % width % height) * BM + tl.arange(0, BM)
    n = pid % width // height * BN + tl.arange(0, BN)
    tl.store(out + m[:, None] * stride + n[None, :], pid, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def shifted(x, out, rows, columns, stride, shift, B: tl.constexpr):  # noqa: PLR0917
    """Adds 1 to rows, in blocks; a program has every grid-th row, and reads `shift` elements further."""
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        for start in range(0, columns, B):
            i = start + tl.arange(0, B)
            v = tl.load(x + row * stride + shift + i, mask=i < columns)
            tl.store(out + row * stride + i, v + 1, mask=i < columns)


def are_raced(touched: list[tuple[int, Any, Any]]) -> bool:
    """Whether a program writes an element that another one touches; each has what it reads and what it writes."""
    return any(
        one != other and np.intersect1d(written, np.union1d(read_too, written_too)).size
        for one, _, written in touched
        for other, read_too, written_too in touched
    )


def raced(kernel: Any, grid: int, *arguments: Any, static: bool = True, **options: Any) -> tuple[bool, dict[str, int]]:
    """Runs a kernel. Returns whether a race was found, and how many accesses were proved, checked and unsupported."""
    with tx.sanitize("race", static=static) as report:
        kernel[(grid,)](*arguments, **options)
        found = report.findings
    assert {one.check for one in found} <= {"race"}
    return bool(found), report.counts()


@pytest.mark.slow
@generated
@given(M=st.integers(1, 20), N=st.integers(1, 20), more=st.integers(-3, 2), group=st.sampled_from([1, 2]))
def test_tiles_of_a_matrix(M: int, N: int, more: int, group: int) -> None:
    stride, grid = max(N + more, 1), -(-M // 4) * -(-N // 4)
    out = torch.zeros(M * stride + N)
    touched = []
    for pid in range(grid):
        width = group * -(-N // 4)
        first = pid // width * group
        height = min(-(-M // 4) - first, group)
        rows = np.arange(4)[:, None] + (first + pid % width % height) * 4
        columns = np.arange(4)[None, :] + pid % width // height * 4
        written = (rows * stride + columns)[(rows < M) & (columns < N)]
        touched.append((pid, written[:0], written))
    arguments = (out, M, N, stride)
    found, counts = raced(grouped, grid, *arguments, BM=4, BN=4, GROUP=group)
    assert found == are_raced(touched)
    assert counts["proved" if more >= 0 else "checked"] == 1 or more < 0
    assert raced(grouped, grid, *arguments, BM=4, BN=4, GROUP=group, static=False)[0] == found


@pytest.mark.slow
@generated
@given(
    rows=st.integers(1, 6), columns=st.integers(1, 20), more=st.integers(-2, 2), shift=st.integers(-2, 2),
    grid=st.integers(1, 4), in_place=st.booleans(),
)  # fmt: skip
def test_rows_in_place(rows: int, columns: int, more: int, shift: int, grid: int, in_place: bool) -> None:  # noqa: PLR0917
    stride = max(columns + more, 1)
    x = torch.zeros(rows * stride + columns + 8)
    out = x if in_place else torch.zeros_like(x)
    touched = []
    for pid in range(grid):
        mine = np.arange(pid, rows, grid)[:, None] * stride + np.arange(columns)
        touched.append((pid, mine + shift if in_place else mine[:0], mine))
    found, counts = raced(shifted, grid, x[4:], out[4:], rows, columns, stride, shift, B=8)
    assert found == are_raced(touched)
    if more >= 0 and (shift == 0 or not in_place):
        assert counts == {"proved": 2, "checked": 0, "unsupported": 0}


@pytest.mark.slow
def test_two_views_of_one_storage() -> None:
    """The programs of each view have bytes of their own, but one writes what another one reads."""
    memory = torch.zeros(64)
    found, counts = raced(shifted, 2, memory[4:], memory, 2, 16, 16, 0, B=16)
    assert found
    assert counts["checked"] == 2
    found, counts = raced(shifted, 2, memory[32:], memory, 2, 16, 16, 0, B=16)
    assert not found
    assert counts["proved"] == 2


@pytest.mark.slow
def test_two_programs_that_write_the_same() -> None:
    """A store races with itself, and a launch that is proved does not count for one that is not."""
    out = torch.zeros(64)
    with tx.sanitize("race") as report:
        grouped[(1,)](out, 8, 8, 0, BM=4, BN=4, GROUP=1)
        assert report.counts()["proved"] == 1
        grouped[(4,)](out, 8, 8, 0, BM=4, BN=4, GROUP=1)
        assert [(one.check, one.argument) for one in report.findings] == [("race", "out")]
        grouped[(1,)](out, 8, 8, 0, BM=4, BN=4, GROUP=1)
        assert report.counts() == {"proved": 0, "checked": 1, "unsupported": 0}


@pytest.mark.slow
@pytest.mark.parametrize("static", [True, False])
def test_elements_that_are_not_aligned_in_their_storage_have_no_shadow(static: bool) -> None:
    memory = np.zeros(129, np.int8)
    for start, found, kind in ((0, True, "checked"), (1, False, "unsupported")):
        out = memory[start : start + 128].view(np.int16)
        assert raced(grouped, 4, out, 8, 8, 0, BM=4, BN=4, GROUP=1, static=static) == (
            found, dict.fromkeys(("proved", "checked", "unsupported"), 0) | {kind: 1}
        )  # fmt: skip


@triton.jit
def spread(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + tl.program_id(0) * B + i, tl.load(x + i))


@pytest.mark.slow
def test_what_all_programs_read() -> None:
    """Reads do not race with each other, though the look at them has the code of a look at a write, too. Memory that
    is only read needs no look.
    """
    x, out = torch.ones(32), torch.zeros(160)
    found, counts = raced(spread, 4, x, out, static=False, B=32)
    assert not found
    assert counts == {"proved": 1, "checked": 1, "unsupported": 0}
    found, counts = raced(spread, 4, out[128:], out, static=False, B=32)
    assert not found
    assert counts == {"proved": 0, "checked": 2, "unsupported": 0}
    found, _ = raced(spread, 4, out, out, static=False, B=32)
    assert found


@triton.jit
def counted(x, bins, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@pytest.mark.slow
def test_atomics() -> None:
    x, bins = torch.zeros(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    assert raced(counted, 4, x, bins, 64, B=16) == (False, {"proved": 2, "checked": 0, "unsupported": 0})
    assert raced(counted, 4, x, x, 64, B=16)[0]  # in the memory that other programs read


@triton.jit
def total(x, out, n, B: tl.constexpr):
    all_ = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        all_ += tl.load(x + i, mask=i < n, other=0)
    tl.store(out + tl.arange(0, B), all_)


@triton.jit
def increased(x, n, B: tl.constexpr):
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def increased_once(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def written_first(x, out, n, B: tl.constexpr):
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(x + i, start, mask=i < n)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def chained(x, index, n):
    for i in range(1, n):
        tl.store(x + i, tl.load(x + tl.load(index + i)) + 1)


@triton.jit
def read_and_chained(x, index, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    for j in range(1, n):
        tl.store(x + j, tl.load(x + tl.load(index + j)) + 1)
    tl.store(out + i, v)


@triton.jit
def two_loops(x, out, n, B: tl.constexpr):
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(x + i, start, mask=i < n)


def unwritten(kernel: Any, *arguments: Any) -> list[tuple[str | None, int]]:
    with tx.sanitize("uninit") as report:
        x = torch.empty(64)
        x[:40] = 1
        kernel[(1,)](x, *arguments, B=16)
        return [(one.argument, one.lanes) for one in report.findings]


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
def test_what_a_loop_reads_is_looked_at_behind_it() -> None:
    assert unwritten(total, torch.zeros(16), 50) == [("x", 10)]
    assert unwritten(total, torch.zeros(16), 40) == []


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
def test_what_a_program_reads_before_it_writes() -> None:
    assert unwritten(increased, 50) == [("x", 10)]
    assert unwritten(increased_once, 16) == []
    with tx.sanitize("uninit") as report:
        increased_once[(1,)](torch.empty(16), 12, B=16)
        assert [(one.argument, one.lanes) for one in report.findings] == [("x", 12)]


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
def test_what_a_program_writes_before_it_reads() -> None:
    assert unwritten(written_first, torch.zeros(64), 64) == []


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
def test_the_order_of_a_loop() -> None:
    """Each iteration reads what the one before has written, at indices from memory, which cannot be read again."""
    with tx.sanitize("uninit") as report:
        x = torch.empty(16)
        x[0] = 0
        chained[(1,)](x, torch.arange(16, dtype=torch.int32) - 1, 16)
        assert report.findings == []
        chained[(1,)](torch.empty(16), torch.arange(16, dtype=torch.int32) - 1, 16)
        assert [(one.argument, one.lanes) for one in report.findings] == [("x", 1)]


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
def test_the_order_of_two_loops() -> None:
    """The first loop has read what the second one writes, of which some looks stay in the loop."""
    index = torch.arange(16, dtype=torch.int32) - 1
    with tx.sanitize("uninit") as report:
        x = torch.empty(16)
        x[0] = 0
        read_and_chained[(1,)](x, index, torch.zeros(16), 16, B=16)
        assert [(one.argument, one.lanes) for one in report.findings] == [("x", 15)]
    assert unwritten(two_loops, torch.zeros(64), 64) == [("x", 24)]


@pytest.mark.slow
def test_written_tensors_are_proved() -> None:
    with tx.sanitize("uninit") as report:
        total[(1,)](torch.ones(64), torch.zeros(16), 64, B=16)
        assert report.counts() == {"proved": 2, "checked": 0, "unsupported": 0}
        total[(1,)](torch.ones(64), torch.empty(16), 64, B=16)  # the host knows what it writes
        assert report.counts() == {"proved": 2, "checked": 0, "unsupported": 0}
        total[(1,)](torch.empty(64), torch.zeros(16), 64, B=16)
        assert report.counts() == {"proved": 1, "checked": 1, "unsupported": 0}


@triton.jit
def filled(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1, mask=i < n)


@pytest.mark.usefixtures("decides")
@pytest.mark.parametrize("size", [7, 8, 24])
def test_a_tensor_that_kernels_have_written_needs_no_shadow(size: int) -> None:
    with tx.sanitize("uninit") as report:
        x = torch.empty(size)
        for _ in range(8):
            filled[(1,)](x, size - 1, B=32)
        increased_once[(1,)](x, size, B=32)
        assert [(one.argument, one.lanes, one.lane) for one in report.findings] == [("x", 1, size - 1)]
        for _ in range(16):  # at one of these the host asks the shadow
            filled[(1,)](x, size, B=32)
        total[(1,)](x, torch.zeros(16), size, B=16)
        assert {one.verdict for one in report.accesses if one.kernel == "total"} == {"proved"}
        total[(1,)](torch.empty(size), torch.zeros(16), size, B=16)  # another one does
        assert [one.lanes for one in report.findings if one.kernel == "total"] == [size]


def test_clusters_are_refused() -> None:
    """A kernel without probes that only marks what it writes has words of the launch, too."""
    source = triton.compiler.ASTSource(filled, {"x": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 32})
    with (
        tx.sanitize("uninit", static=False),
        pytest.raises(PipelineError, match="words of the launch are in the kernel 'filled'"),
    ):
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_ctas": 2})


#: Bugs in what the host decides, and the test that notices each.
MUTATIONS = {
    "stores do not race": ('({"read"}, {"atomic"})', '({"read"}, {"atomic"}, {"write"})', "programs_that_write"),
    "arguments are apart": ("arguments[one[\"argument\"]].storage, []", "(one['argument'], 0), []", "two_views"),
    "atomics race with nothing": (
        'kinds[storage] not in ({"read"}, {"atomic"})', '"atomic" not in kinds[storage]', "atomics",
    ),
    "views start with the storage": ("one.address - one.storage[0] for", "0 for", "two_views"),
    "grids are alike": ("key = tuple(grid), ", "key = ", "programs_that_write"),
}  # fmt: skip
TESTS = {
    "programs_that_write": test_two_programs_that_write_the_same,
    "two_views": test_two_views_of_one_storage,
    "atomics": test_atomics,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_the_host_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, test = MUTATIONS[name]
    text = Path(str(_races.__file__)).read_text()
    assert text.count(before) == 1
    other = types.ModuleType(_races.__name__)
    other.__package__ = _races.__package__
    monkeypatch.setitem(sys.modules, _races.__name__, other)
    exec(compile(text.replace(before, after), "_races", "exec"), vars(other))
    monkeypatch.setattr(_shadows, "looks_of", other.looks_of)
    with pytest.raises(AssertionError):
        TESTS[test]()


@triton.jit
def own_rows(x, y, n, B: tl.constexpr):
    """Each program writes a row of `x`, and all of them read the same rows of `y`."""
    for t in range(n):
        at = t * B + tl.arange(0, B)
        v = tl.load(y + at)
        if tl.program_id(0) == t:
            tl.store(x + at, v)
    tl.store(y + n * B + tl.program_id(0) * B + tl.arange(0, B), 1)


@triton.jit
def shared_rows(x, y, n, B: tl.constexpr):
    """All programs write `y`, and none writes `x`."""
    for t in range(n):
        at = t * B + tl.arange(0, B)
        tl.store(y + at, 1)
        if tl.program_id(0) == 7:
            tl.store(x + at, 1)


@pytest.mark.parametrize("static", [True, False])
def test_looks_under_an_if_of_the_kernel(static: bool) -> None:
    """A look that shares a branch with others must not lose the condition of its access."""
    x, y = np.zeros(1024, np.int32), np.zeros(1024, np.int32)
    with tx.sanitize("race", static=static) as report:
        own_rows[(4,)](x, y, 4, B=64)
    assert not report.findings, report.text()
    with tx.sanitize("race", static=static) as report:
        shared_rows[(2,)](x, y, 2, B=64)
    (one,) = report.findings
    assert (one.argument, one.lanes) == ("y", 128)


@triton.jit
def gathered_and_stored(y, z, index, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(y + tl.load(index + i))
    tl.store(y + i, v)


@triton.jit
def stored_around(y, z, index, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(z + i, 1.0)
    v = tl.load(y + tl.load(index + i))
    tl.store(y + i, v)


@triton.jit
def scattered_and_read(y, z, index, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + tl.load(index + i), 1.0)
    tl.store(z + i, tl.load(y + i))


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("kernel", [gathered_and_stored, stored_around, scattered_and_read])
def test_looks_at_loaded_indices_keep_their_order(kernel: Any, static: bool) -> None:
    """Such a look stays behind its access; what comes later is marked, or looked at, behind it."""
    with tx.sanitize("uninit", static=static) as report:
        y, z = torch.empty(64), torch.empty(64)
        kernel[(1,)](y, z, torch.arange(64), B=64)
    found = [(one.check, one.argument, one.lanes) for one in report.findings]
    assert found == ([] if kernel is scattered_and_read else [("uninit", "y", 64)])
