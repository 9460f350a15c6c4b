# SPDX-License-Identifier: Apache-2.0
"""Hints about arguments: Triton drops them, and the sanitizer checks them all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def hint(n):
    return tl.multiple_of(n, 8)  # in the helper


@triton.jit
def promised(out, n, m, WHERE: tl.constexpr):
    if WHERE == "kernel":
        n = tl.multiple_of(n, 8)  # in the kernel
    elif WHERE == "helper":
        n = hint(n)
    elif WHERE == "argument of a helper":
        n = hint(n + m)
    elif WHERE == "branch":
        if m > 2:
            n = tl.multiple_of(n, 8)  # in the branch
    elif WHERE == "loop":
        for _ in range(m):
            n = tl.multiple_of(n, 8)  # in the loop
            n += 4
    tl.store(out, n)


def line_with(comment: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


def run(where: str, n: int, m: int, programs: int = 3, checks: str = "hints") -> Any:
    out = torch.zeros(1, dtype=torch.int32)
    with tx.sanitize(checks) as report:
        promised[(programs,)](out, n, m, where)
    return report


@pytest.mark.parametrize(
    ("where", "line", "n", "m"),
    [
        ("kernel", "in the kernel", 12, 0),
        ("helper", "in the helper", 12, 0),
        ("argument of a helper", "in the helper", 16, 3),
        ("branch", "in the branch", 12, 3),
        ("loop", "in the loop", 16, 2),
    ],
)
def test_a_false_hint(where: str, line: str, n: int, m: int) -> None:
    (found,) = run(where, n, m).findings
    assert (found.check, found.line) == ("hints", line_with(line))
    assert (found.program, found.lane, found.programs) == ((0, 0, 0), -1, 3)
    assert "multiples of 8" in found.message
    assert found.argument == ("n" if where in ("kernel", "helper") else None)


@pytest.mark.parametrize(
    ("where", "n", "m"),
    [("kernel", 24, 0), ("helper", 24, 0), ("argument of a helper", 13, 3), ("branch", 12, 2), ("loop", 16, 1)],
)
def test_a_hint_that_holds(where: str, n: int, m: int) -> None:
    assert not run(where, n, m).findings


@pytest.mark.slow
def test_only_where_hints_are_checked() -> None:
    assert not run("kernel", 12, 0, checks="bounds").findings
    with tx.sanitize("hints") as outer:
        assert not run("loop", 16, 2, checks="bounds").findings
        assert not outer.findings
    assert run("kernel", 12, 0, programs=0).findings == []


def test_a_report_counts_it() -> None:
    (said,) = [one for one in run("kernel", 24, 0).accesses if one.check == "hints"]
    assert (said.line, said.verdict, said.why) == (line_with("in the kernel"), "checked", "multiple_of")


@pytest.mark.slow
def test_the_kernel_has_no_operation_for_its_arguments() -> None:
    def rests(where: str) -> int:
        source = triton.compiler.ASTSource(
            promised, {"out": "*i32", "n": "i32", "m": "i32", "WHERE": "constexpr"}, {"WHERE": where}
        )
        with tx.sanitize("hints"):
            text: str = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
        return text.count("and.b32")

    assert rests("kernel") == rests("helper") == 0
    assert rests("argument of a helper") > 0


@triton.jit
def one_more(x):
    return tl.multiple_of(x, 2) + 1


@triton.jit
def mapping(out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.map_elementwise(one_more, i))


def test_the_function_of_a_map() -> None:
    """The kernel compiles, and its hint is not checked."""
    out = torch.zeros(16, dtype=torch.int32)
    with tx.sanitize("hints") as report:
        mapping[(1,)](out)
    assert not report.findings
    assert out.tolist() == list(range(1, 17))


@triton.jit
def failing(out, n):
    n = tl.multiple_of(n, 8)
    tl.store(out, tl.inline_asm_elementwise("nanosleep.u32 $1; mov.b32 $0, $1;", "=r,r", [n], tl.int32, True, 1))


def test_a_kernel_that_fails_without_checks_too() -> None:
    says = "the kernel fails, too, in stage 'cpuir': .*inline assembly is written for a GPU"
    with tx.sanitize("hints"), pytest.raises(tx.PipelineError, match=says):
        failing[(1,)](torch.zeros(1, dtype=torch.int32), 8)


def test_gluon_has_no_such_stage() -> None:
    source = GluonASTSource(doubled, {"out": "*i32", "n": "i32"})
    with tx.sanitize("hints"), pytest.warns(UserWarning, match="this compilation has no stage 'ttir'"):
        assert "probe." not in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttgir"]


@gluon.jit
def doubled(out, n):
    gl.store(out, gl.multiple_of(n, 8) * 2)


def test_check_launch_in_a_session() -> None:
    with tx.sanitize("hints"):
        report = tx.sanitize.check_launch(
            promised, grid=(1,), target="cuda:90", out=torch.zeros(1, dtype=torch.int32), n=12, m=0, WHERE="kernel"
        )
    assert not report.findings
