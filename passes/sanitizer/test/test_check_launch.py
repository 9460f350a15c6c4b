# SPDX-License-Identifier: Apache-2.0
"""`tx.sanitize.check_launch`: launches that are decided without running, and tensors that are never allocated."""

# ruff: noqa: N806, PLR0917 - kernels name sizes M, N, K and have many arguments

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext as tx
from triton_ext.errors import TritonExtError

TARGET = "cuda:90"
Tensor = tx.sanitize.Tensor


def checked(kernel: Any, *arguments: object, grid: object, **named: Any) -> Any:
    return tx.sanitize.check_launch(kernel, *arguments, grid=grid, target=TARGET, **named)


def line_in(kernel: Any, text: str) -> int:
    """Returns the number of the first line of a kernel that contains the text."""
    lines = kernel.raw_src
    return int(kernel.starting_line_number) + next(i for i, line in enumerate(lines) if text in line)


def blocks(name: str) -> Callable[[Any], tuple[int]]:
    return lambda meta: (triton.cdiv(meta[name], meta["BLOCK"]),)


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    i = start + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(y + i, tl.load(x + i, mask=mask) * 2, mask=mask)


@triton.jit
def double_wide(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(y + i, tl.load(x + i, mask=mask) * 2, mask=mask)


@pytest.mark.slow
def test_a_tensor_of_8_gb() -> None:
    n = 2**32
    x = torch.empty(n, dtype=torch.float16, device="meta")
    report = checked(double, x, x, n, BLOCK=1024, grid=blocks("n"))
    (finding,) = report.findings
    assert (finding.check, finding.line) == ("overflow", line_in(double, "start = "))
    assert (finding.program, finding.lane, finding.argument) == ((2**21, 0, 0), 0, "x")
    assert (finding.values["exact"], finding.values["actual"]) == (2**31, -(2**31))
    assert (finding.values["least"], finding.values["greatest"]) == (0, n - 1024)
    assert "int64" in finding.suggestion
    assert report.first_sizes["n"].value == 2**31 + 1
    assert report.first_sizes["n"].is_first
    assert "n = 2,147,483,649 is the first that breaks" in finding.message
    assert json.loads(report.json())["first_sizes"]["n"] == {
        "name": "n", "value": 2**31 + 1, "is_first": True, "others": [], "grid": ""
    }  # fmt: skip
    assert json.loads(report.sarif())["runs"][0]["results"][0]["ruleId"] == "overflow"
    assert re.search(r"error\[overflow\]: this '\*' wraps in i32.*\n.*start = .*\^\^\^", str(report), re.S)
    one_less = checked(double, x, x, 2**31, BLOCK=1024, grid=blocks("n"))
    assert not one_less
    assert {verdict.verdict for verdict in one_less.verdicts} == {"proved"}
    wide = checked(double_wide, x, x, n, BLOCK=1024, grid=blocks("n"))
    assert not wide
    assert not wide.unknown


@pytest.mark.slow
def test_the_first_size_of_a_grid_that_is_not_an_expression() -> None:
    def grid(meta: Any) -> tuple[int]:
        return (max(meta["n"] // 1024 + bool(meta["n"] % 1024), 1),)

    report = checked(double, Tensor((2**32,)), Tensor((2**32,)), 2**32, BLOCK=1024, grid=grid)
    assert (report.first_sizes["n"].value, report.first_sizes["n"].is_first) == (2**31 + 1, False)
    assert "of those that were tried" in report.findings[0].message
    fixed = checked(double, Tensor((2**32,)), Tensor((2**32,)), 2**32, BLOCK=1024, grid=(2**22,))
    # The grid stays as large, so its last programs wrap for every n: a negative index is less than n.
    assert "n" not in fixed.first_sizes
    with pytest.raises(TritonExtError, match="'m' is not an integer argument of 'double', these are: n"):
        checked(double, Tensor((8,)), Tensor((8,)), 8, BLOCK=16, grid=1, vary="m")


@triton.jit
def fill(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)


@pytest.mark.slow
def test_a_large_grid_takes_no_memory() -> None:
    """Points are counted one by one only if they are few: 2^24 programs would take 600 MB."""
    tracemalloc.start()
    report = checked(fill, Tensor((64,), dtype="fp32"), 64, BLOCK=1024, grid=(1 << 24, 1, 1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (one,) = (one for one in report.findings if one.check == "overflow")
    assert (one.program, one.lanes, one.programs) == ((1 << 21, 0, 0), 0, 0)
    assert most < 100e6


@triton.jit
def matmul(
    x, y, z, M, N, K, sxm, sxk, syk, syn, szm, szn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, WRONG: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    pid_m = first + pid % (GROUP * columns) % height
    pid_n = pid % (GROUP * columns) // height
    m = (pid_m * BM + tl.arange(0, BM)) % M
    n = (pid_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_x = x + m[:, None] * sxm + k[None, :] * sxk
    at_y = y + k[:, None] * syk + n[None, :] * syn
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        a = tl.load(at_x, mask=k[None, :] < K - i * BK, other=0.0)
        b = tl.load(at_y, mask=k[:, None] < K - (0 if WRONG else i * BK), other=0.0)
        total = tl.dot(a, b, total)
        at_x += BK * sxk
        at_y += BK * syk
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BN + tl.arange(0, BN)
    tl.store(z + m[:, None] * szm + n[None, :] * szn, total, mask=(m[:, None] < M) & (n[None, :] < N))


def multiply(M: int, N: int, K: int, *, wrong: bool = False, transposed: bool = False, **named: Any) -> Any:
    x = Tensor((M, K), (1, M) if transposed else None, "fp16")
    y, z = Tensor((K, N), dtype=torch.float16), Tensor((M, N), dtype=tl.float16)
    strides = (1, M) if transposed else (K, 1)
    return checked(
        matmul, x, y, z, M, N, K, *strides, N, 1, N, 1, BM=128, BN=128, BK=64, GROUP=8, WRONG=wrong,
        grid=lambda meta: triton.cdiv(meta["M"], 128) * triton.cdiv(meta["N"], 128), **named,
    )  # fmt: skip


@pytest.mark.slow
def test_a_matrix_product() -> None:
    for M, N, K in ((512, 512, 512), (1000, 1003, 1001), (1, 1, 1), (4097, 129, 65)):
        for transposed in (False, True):
            report = multiply(M, N, K, transposed=transposed)
            assert not report
            assert not report.unknown, str(report)
    report = multiply(65536, 65536, 128, vary="M")
    (finding,) = report.findings
    assert (finding.check, finding.line, finding.argument) == ("overflow", line_in(matmul, "tl.store"), "z")
    assert finding.values["first sizes"] == {"M": 32769}  # row 32768 of rows of 65536 elements starts at 2**31
    assert report.first_sizes["M"].is_first
    assert not multiply(32768, 65536, 128)


@pytest.mark.slow
def test_a_mask_that_forgets_the_iteration() -> None:
    assert not multiply(256, 256, 256, wrong=True)  # every block is full
    (finding,) = multiply(256, 256, 250, wrong=True).findings
    assert (finding.check, finding.argument, finding.line) == ("bounds", "y", line_in(matmul, "b = tl.load"))
    # Row 250 is the first that y does not have: lane (58, 0) of the iteration 3 in the first program.
    assert (finding.program, finding.values["iteration"], finding.lane) == ((0, 0, 0), [3], 58 * 128)
    assert (finding.coordinates, finding.distance) == ((250, 0), 2)
    assert "the mask is true there" in finding.suggestion


@triton.jit
def persistent(x, y, rows, columns, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * stride + i, mask=i < columns, other=0)
        tl.store(y + row * columns + i, value, mask=i < columns)


@pytest.mark.slow
def test_loops_and_grids() -> None:
    def run(rows: int, columns: int, stride: int, grid: object, rows_of_x: int | None = None) -> Any:
        x = Tensor((rows_of_x or rows, columns), (stride, 1))
        return checked(persistent, x, Tensor((rows, columns)), rows, columns, stride, BLOCK=1024, grid=grid)

    for grid in (1, (7,), (132, 1, 1), lambda _: (1000,)):
        report = run(1000, 1000, 1024, grid)
        assert not report
        assert not report.unknown
    assert not run(0, 1000, 1024, 4)  # nothing runs
    assert not run(10, 1000, 1024, 0)
    (finding,) = run(1000, 1000, 1024, 132, rows_of_x=999).findings
    assert (finding.program, finding.values["iteration"], finding.lane) == ((75, 0, 0), [7], 0)  # 75 + 7 * 132 == 999
    assert finding.coordinates == (999, 0)
    # Rows of 2**20 elements: row 2048 starts at 2**31.
    (finding,) = run(2049, 1000, 2**20, 8).findings
    assert (finding.check, finding.program, finding.values["iteration"]) == ("overflow", (0, 0, 0), [256])
    assert not run(2048, 1000, 2**20, 8)
    with pytest.raises(TritonExtError, match="has a negative size"):
        run(10, 10, 10, (-1,))
    with pytest.raises(TritonExtError, match="is not a grid"):
        run(10, 10, 10, (1, 1, 1, 1))


@triton.jit
def trip_count(x, n, BLOCK: tl.constexpr):
    for k in range((n + BLOCK - 1) // BLOCK):
        tl.store(x + k, 0.0)


@triton.jit
def branching(x, n, limit):
    i = tl.program_id(0)
    if i * n < limit:
        tl.store(x + i, 0.0)


def test_integers_that_steer() -> None:
    report = checked(trip_count, Tensor((2**31,)), 2**31 - 1, BLOCK=1024, grid=1, vary="n")
    assert [finding.check for finding in report.findings] == ["overflow"]
    assert "the loop's trip count uses it" in report.findings[0].message
    assert report.first_sizes["n"].value == 2**31 - 1023
    assert not checked(trip_count, Tensor((2**31,)), 2**31 - 1024, BLOCK=1024, grid=1)
    (finding,) = checked(branching, Tensor((70000,)), 65536, 2**31 - 1, grid=70000).findings
    assert (finding.check, finding.program) == ("overflow", (32768, 0, 0))
    assert "the branch uses it" in finding.message


@triton.jit
def unsigned(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.uint32) * BLOCK + tl.arange(0, BLOCK).to(tl.uint32)
    tl.store(x + i, 0, mask=i < n)


@triton.jit
def cancelling(x, big):
    i = tl.program_id(0) + big - big  # wraps twice, to the right sum
    tl.store(x + i, 0)


@triton.jit
def merged(x):
    i = tl.arange(0, 8) + 2000000000 + 2000000000
    tl.store(x + i, 0)


@pytest.mark.slow
def test_only_what_changes_an_access_is_reported() -> None:
    n = 2**32 - 1
    x = Tensor((2**32,), dtype="int8")
    assert not checked(unsigned, x, n, BLOCK=1024, grid=blocks("n"))
    (finding,) = checked(unsigned, x, n, BLOCK=1024, grid=2**22 + 1).findings
    assert (finding.check, finding.program) == ("overflow", (2**22, 0, 0))
    assert not checked(cancelling, Tensor((16,)), 2**31 - 1, grid=16)
    assert [finding.check for finding in checked(merged, Tensor((2**33,)), grid=1).findings] == ["overflow"]


@triton.jit
def gathered(x, index, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n)
    tl.store(y + i, tl.load(x + at, mask=i < n), mask=i < n)
    tl.store(y + (at & 15), 0.0, mask=i < n)


@triton.jit
def polling(x, flag):
    while tl.load(flag) == 0:
        tl.store(x + 100, 0.0)


def test_what_depends_on_data_is_unknown() -> None:
    report = checked(gathered, Tensor((64,)), Tensor((64,), dtype="i32"), Tensor((64,)), 64, BLOCK=64, grid=1)
    assert not report
    (unknown,) = report.unknown
    assert (unknown.check, unknown.line) == ("bounds", line_in(gathered, "tl.load(x + at"))
    assert "data from memory" in unknown.why
    masked = checked(gathered, Tensor((64,)), Tensor((64,), dtype="i32"), Tensor((15,)), 10, BLOCK=64, grid=1)
    assert {(verdict.line, verdict.check) for verdict in masked.unknown} == {
        (line_in(gathered, "tl.load(x + at"), "bounds"),
        (line_in(gathered, "at & 15"), "bounds"),
    }
    report = checked(polling, Tensor((8,)), Tensor((1,), dtype="i32"), grid=1)
    assert not report
    assert [verdict.why for verdict in report.unknown] == [
        f"the while loop in line {line_in(polling, 'while')} may not run"
    ]


@triton.jit
def strided(x, rows, columns, stride_row, stride_column, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    tl.store(x + i * stride_row + j * stride_column, 0.0, mask=j < columns)


@pytest.mark.slow
def test_views() -> None:
    storage = torch.empty(100, 64, device="meta")
    view = storage[10:20, ::2]

    def run(view: Any, rows: int, columns: int) -> Any:
        return checked(strided, view, rows, columns, *view.stride(), BLOCK=64, grid=rows)

    assert not run(view, 10, 32)
    (finding,) = run(view, 11, 32).findings
    assert (finding.check, finding.severity, finding.program) == ("view", "warning", (10, 0, 0))
    (finding,) = run(view, 91, 32).findings
    assert (finding.check, finding.severity, finding.program) == ("bounds", "error", (90, 0, 0))
    assert not run(storage.T, 64, 64)
    reversed_rows = Tensor((8, 8), (-8, 1))
    assert not checked(strided, reversed_rows, 8, 8, -8, 1, BLOCK=64, grid=8)
    (finding,) = checked(strided, reversed_rows, 8, 8, -8, 1, BLOCK=64, grid=9).findings
    assert (finding.check, finding.distance) == ("bounds", -32)
    empty = torch.empty(0, 5, device="meta")
    assert checked(strided, empty, 1, 5, 5, 1, BLOCK=8, grid=1)
    assert not checked(strided, empty, 0, 5, 5, 1, BLOCK=8, grid=0)
    assert not checked(strided, torch.empty((), device="meta"), 1, 1, 0, 0, BLOCK=2, grid=1)
    with pytest.raises(TritonExtError, match="does not fit into its storage"):
        checked(strided, Tensor((8, 8), storage=63), 8, 8, 8, 1, BLOCK=8, grid=8)
    with pytest.raises(TritonExtError, match="have different lengths"):
        checked(strided, Tensor((8, 8), (1,)), 8, 8, 8, 1, BLOCK=8, grid=8)
    with pytest.raises(TritonExtError, match="is not an element type"):
        checked(strided, Tensor((8, 8), dtype="fp17"), 8, 8, 8, 1, BLOCK=8, grid=8)


@triton.jit
def promising(x, n, stride, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    start = tl.multiple_of(tl.program_id(0) * stride, 16)
    i = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    tl.store(x + i, 0.0, mask=i < n)


def test_promises() -> None:
    def run(n: int, stride: int, grid: int = 4) -> list[tuple[str, int, tuple[int, int, int]]]:
        report = checked(promising, Tensor((64,)), n, stride, BLOCK=16, grid=grid)
        return [(finding.check, finding.line, finding.program) for finding in report.findings]

    assert run(64, 16) == []
    assert run(64, 32, grid=2) == []
    assert run(0, 16) == [("hints", line_in(promising, "assume"), (0, 0, 0))]
    assert run(60, 15) == [
        ("hints", line_in(promising, "start = "), (1, 0, 0)),
        ("hints", line_in(promising, "max_contiguous"), (1, 0, 0)),
    ]
    assert run(60, 15, grid=1) == []


@pytest.mark.slow
def test_what_a_kernel_was_specialised_on() -> None:
    attributes = {(0,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]]}
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(double, types, {"BLOCK": 1024}, attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    storage = torch.empty(4096, device="meta")
    for kernel in (source, compiled):
        assert not checked(kernel, storage, storage[1:], 4080, grid=4)
        found = checked(kernel, storage[2:], storage, 4000 + 8, grid=4).findings
        assert [(finding.check, finding.argument) for finding in found] == [("hints", "x"), ("hints", "n")]
        assert "8 modulo 16" in found[0].message
        assert "4008 is not" in found[1].message


@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 4096})], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 0.0)


def test_each_configuration_is_checked() -> None:
    assert not checked(tuned, Tensor((4096,)), 4096, grid=blocks("n"))
    (finding,) = checked(tuned, Tensor((1280,)), 1280, grid=blocks("n")).findings
    assert finding.coordinates == (1280,)
    with pytest.raises(TritonExtError, match="'n' is missing"):
        checked(tuned, Tensor((1280,)), grid=1)
    with pytest.raises(TritonExtError, match="there is no check 'races'"):
        checked(tuned, Tensor((1280,)), 1280, grid=1, checks="bounds,races")


@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.heuristics({"IS_EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.heuristics({"HALF": lambda args: args["BLOCK"] // 2, "STEP": lambda args: args["HALF"] + args["IS_EVEN"] * 0})
@triton.jit
def by_heuristics(x, n, BLOCK: tl.constexpr, IS_EVEN: tl.constexpr, HALF: tl.constexpr, STEP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, STEP)
    tl.store(x + i, 0.0, mask=(i < n) | IS_EVEN)
    tl.store(x + i + HALF, 0.0, mask=(i + HALF < n) | IS_EVEN)


def test_heuristics_see_those_before_them_and_win() -> None:
    assert not checked(by_heuristics, Tensor((1000,)), 1000, grid=blocks("n"))
    found = checked(by_heuristics, Tensor((1000,)), 1024, grid=blocks("n"), IS_EVEN=False, HALF=1).findings
    assert [finding.coordinates for finding in found] == [(1000,)]


@triton.jit
def by_descriptor(x, rows, columns, BLOCK: tl.constexpr):
    made = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    made.store([tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK], tl.zeros((BLOCK, BLOCK), tl.float32))


def test_descriptors() -> None:
    assert not checked(by_descriptor, Tensor((100, 64)), 100, 64, BLOCK=32, grid=(4, 2))
    (finding,) = checked(by_descriptor, Tensor((100, 64)), 101, 64, BLOCK=32, grid=(4, 2)).findings
    assert (finding.check, finding.program, finding.coordinates) == ("bounds", (3, 0, 0), (100, 0))
