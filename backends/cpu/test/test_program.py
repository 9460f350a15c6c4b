# SPDX-License-Identifier: Apache-2.0
"""Control flow, grids, all kinds of arguments, printing, assertions, and errors that name the source line."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import support
import triton_ext as tx
from support import forked_python


@triton.jit
def branches(x, out, n):
    p = tl.program_id(0)
    if p >= n:
        return
    total = 0.0
    i = 0
    while i < p:
        v = tl.load(x + i)
        if v > 0:
            total += v
        else:
            total -= 2 * v
        i += 1
    tl.store(out + p, total)


def test_branches_and_early_return() -> None:
    x, out = torch.randint(-9, 9, (20,)).float(), torch.zeros(25)
    branches[(25,)](x, out, 20)
    steps = torch.where(x > 0, x, -2 * x)
    assert torch.equal(out[:20], torch.cat([torch.zeros(1), steps.cumsum(0)])[:20])
    assert (out[20:] == 0).all()


@triton.jit
def restored(x, out, low, high, BRANCH: tl.constexpr):
    start = tl.load(x)
    kept = start
    for k in range(low, high):
        if BRANCH:
            if k < 7:
                kept = start
        else:
            kept = tl.where(k > 5, kept, start)
    tl.store(out, kept)


@pytest.mark.parametrize("branch", [False, True], ids=["select", "branch"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_a_loop_that_chooses_what_it_starts_with(dtype: torch.dtype, branch: bool) -> None:
    """LLVM fails an assertion on this loop, which ends the process, if it vectorizes the loop's epilogue."""
    x, out = torch.tensor([-77], dtype=dtype), torch.zeros(1, dtype=dtype)
    for low, high in ((0, 0), (-3, 4), (0, 1003)):
        restored[(1,)](x, out.zero_(), low, high, BRANCH=branch)
        assert torch.equal(out, x)


@triton.jit
def carried(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = a * 2
    for k in range(n):
        a, b = b, a + b  # each needs the other's old value
        if k % 2 == 0:
            a = a - 1
    while tl.sum(a) > 100000:
        a = a // 2
    tl.store(out + i, a)
    tl.store(out + N + i, b)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_tensors_through_control_flow(n: int) -> None:
    x, out = torch.randint(0, 9, (32,), dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    carried[(1,)](x, out, n, N=32)
    a, b = x, x * 2
    for k in range(n):
        a, b = b, a + b
        if k % 2 == 0:
            a = a - 1
    assert torch.equal(out, torch.cat([a, b]))


@triton.jit
def rotate(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    for _ in range(n):
        a = tl.flip(a) + 1  # reads the elements in another order than it writes them
    tl.store(out + i, a)


@pytest.mark.slow
def test_a_loop_that_reads_itself_elsewhere() -> None:
    x, out = torch.arange(64.0), torch.zeros(64)
    rotate[(1,)](x, out, 3, N=64)
    assert torch.equal(out, x.flip(0) + 3)


@triton.jit
def swap_after(x, y, n, STEPS: tl.constexpr):
    i = tl.arange(0, 16)
    a, b = tl.load(x + i), tl.load(y + i)
    for _ in range(n):
        c = b
        for _ in tl.static_range(STEPS):
            c = c + 1.0
        a, b = c, a
    tl.store(x + i, a)
    tl.store(y + i, b)


@pytest.mark.slow
def test_a_loop_swaps_tensors_behind_a_long_expression() -> None:
    """The new value of one tensor needs the old value of the other, however long the expression in between is."""
    steps = 2100
    x, y = torch.arange(16.0), torch.arange(16.0) * 100
    a, b = x.clone(), y.clone()
    for _ in range(3):
        a, b = b + steps, a
    swap_after[(1,)](x, y, 3, STEPS=steps)
    assert torch.equal(x, a)
    assert torch.equal(y, b)


@triton.jit
def transpose_and_double(x, n, STEPS: tl.constexpr):
    i = tl.arange(0, 4)
    at = x + i[:, None] * 4 + i[None, :]
    a = tl.load(at)
    for _ in range(n):
        a = tl.trans(a)
        for _ in tl.static_range(STEPS):
            a = a + a
    tl.store(at, a)


def test_a_loop_reads_a_tensor_along_many_paths() -> None:
    """There are 2^40 paths; the compiler visits each operation once."""
    x = torch.arange(16.0).reshape(4, 4)
    expected = x.T * 2.0**120
    transpose_and_double[(1,)](x, 3, STEPS=40)
    assert torch.equal(x, expected)


@triton.jit(noinline=True)
def helper(a, b):
    return a * b + 1, a - b


@triton.jit
def calls(x, out, N: tl.constexpr):
    total = 0.0
    for i in range(N):
        v = tl.load(x + i)
        p, q = helper(v, v + 2)
        total += p + q
    tl.store(out, total)


@pytest.mark.slow
def test_calls() -> None:
    x, out = torch.randn(64), torch.zeros(1)
    calls[(1,)](x, out, N=64)
    torch.testing.assert_close(out[0], (x * (x + 2) + 1 - 2).sum())


@triton.jit
def grid_of(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * nz)


def test_grid() -> None:
    out = torch.zeros(4, 3, 2, dtype=torch.int32)
    grid_of[(2, 3, 4)](out)
    z, y, x = torch.meshgrid(torch.arange(4), torch.arange(3), torch.arange(2), indexing="ij")
    assert torch.equal(out.long(), x + 10 * y + 100 * z + 4000)
    grid_of[(0,)](out)


@triton.jit
def count(counter):
    tl.atomic_add(counter, 1)


def test_ten_million_programs() -> None:
    counter = torch.zeros(1, dtype=torch.int64)
    count[(10_000_000,)](counter)
    assert counter.item() == 10_000_000


@triton.jit
def arguments(out, a, b, c, d, e, flag, pair, nothing, N: tl.constexpr):
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d)
    tl.store(out + 4, e.to(tl.float64))
    tl.store(out + 5, flag.to(tl.float64))
    tl.store(out + 6, pair[0].to(tl.float64) + tl.load(pair[1]))
    if nothing is None:
        tl.store(out + 7, N)


def test_arguments() -> None:
    out = np.zeros(8)
    one = np.array([0.5])
    arguments[(1,)](out, -5, 2**40, 2**63 + 2048, 1.25, np.int32(-7), True, (3, one), None, N=11)
    assert out.tolist() == [-5, 2**40, 2**63 + 2048, 1.25, -7, 1, 3.5, 11]


@triton.jit
def scalars(out, a: tl.float16, b: tl.bfloat16, c: tl.float64, d: tl.int8, e: tl.uint16):
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c)
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))


def test_scalars_of_declared_types() -> None:
    out = np.zeros(5)
    scalars[(1,)](out, 0.1, 0.1, 0.1, -3, 65535)
    half, brain = torch.tensor(0.1).half().item(), torch.tensor(0.1).bfloat16().item()
    assert out.tolist() == [half, brain, 0.1, -3, 65535]


@triton.jit
def check(x, n, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.device_assert(v < n, "too big")
    tl.store(x + tl.arange(0, N), v + 1)


def test_device_assert() -> None:
    x = torch.arange(32)
    check[(1,)](x, 99, N=32, debug=True)
    with pytest.raises(
        RuntimeError, match=r"test_program\.py:\d+: device assertion failed in program \([0-3], 0, 0\): too big"
    ):
        check[(4,)](x, 5, N=32, debug=True)
    assert x[0] == 1, "the program ends where the assertion fails"
    check[(1,)](x, 99, N=32, debug=True)


@pytest.mark.slow
def test_device_print(tmp_path: Path) -> None:
    script = tmp_path / "printing.py"
    script.write_text(
        textwrap.dedent("""\
        import torch, triton, triton.language as tl

        @triton.jit
        def kernel(x, n, N: tl.constexpr):
            v = tl.load(x + tl.arange(0, N))
            tl.device_print("v =", v)
            tl.device_print("n", n, v.to(tl.float16))

        kernel[(1,)](torch.tensor([-1, 2, 3, 4], dtype=torch.int16), 7, N=4)
        """)
    )
    done = forked_python.run(
        [sys.executable, script],
        env={**__import__("os").environ, "TRITON_DEFAULT_BACKEND": "cpu"},
        check=True,
    )
    assert "pid (0, 0, 0) idx (0) v =: -1\n" in done.stdout
    assert "pid (0, 0, 0) idx () n: (operand 0) 7\n" in done.stdout
    assert "pid (0, 0, 0) idx (3) n: (operand 1) 4.000000\n" in done.stdout


@triton.jit
def assembly(x, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(x + i, tl.inline_asm_elementwise("mov $0, $1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1))


def test_unsupported_is_an_error_with_a_line() -> None:
    line = next(
        n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "inline_asm_elementwise(" in text
    )
    with pytest.raises(
        RuntimeError, match=rf"test_program\.py:{line}:\d+: 'tt\.elementwise_inline_asm': inline assembly"
    ):
        assembly[(1,)](torch.zeros(4, dtype=torch.int32), N=4)


REFUSED = """
import torch, triton
from triton_ext.backends import cpu
from test_program import assembly
cpu.activate()
try:
    assembly[(1,)](torch.zeros(4, dtype=torch.int32), N=4)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("debug", ["", "0", "1"])
def test_a_refusal_is_one_line(debug: str) -> None:
    """An error names file, line, operation and a fix; libtriton's own output appears only with TRITON_EXT_DEBUG."""
    done = forked_python.run(
        [sys.executable, "-c", REFUSED],
        env={**os.environ, "PYTHONPATH": support.path(support.PATH, Path(__file__).parent), "TRITON_EXT_DEBUG": debug},
        check=True,
    )
    assert re.fullmatch(
        r"[^\n]*test_program\.py:\d+:\d+: 'tt\.elementwise_inline_asm': inline assembly is written for a GPU, the CPU "
        r"cannot run it \(PTX: 'mov \$0, \$1': the instruction has no type; use the operations of triton\.language\)\n",
        done.stdout,
    )
    if debug == "1":
        assert "tt.func public @assembly" in done.stderr and "mlir_reproducer" in done.stderr
    else:
        assert not done.stderr


def test_after_a_refusal_others_compile() -> None:
    with pytest.raises(RuntimeError, match="inline assembly"):
        assembly[(1,)](torch.zeros(4, dtype=torch.int32), N=4)
    x = torch.ones(16)
    double[(1,)](x, N=16)
    assert (x == 2).all()


@triton.jit
def double(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)


def test_stages_and_pipeline() -> None:
    x = torch.ones(16)
    kernel = double[(1,)](x, N=16)
    assert list(kernel.asm) == ["source", "ttir", "cpuir", "llir", "asm", "so"]
    assert "scf.for" in kernel.asm["cpuir"] or "llvm.load" in kernel.asm["cpuir"]
    assert kernel.asm["so"].startswith(b"\x7fELF")
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="double", new="twice")):
        kernel = double[(1,)](x, N=16)
    assert kernel.name == "twice" and x[0] == 4


def test_no_tensor_from_elsewhere() -> None:
    with pytest.raises(ValueError, match=r"tensor that is elsewhere \(fix: tensor\.cpu\(\)\)"):
        double[(1,)](torch.empty(16, device="meta"), N=16)
