# SPDX-License-Identifier: Apache-2.0
"""Accesses that other programs observe: volatile loads, cache modifiers, barriers, and the order of atomics."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from support import forked_python

#: Program 1 produces data, and program 0 waits for it. It runs in its own process, so that the test fails if it hangs.
HANDSHAKE = """
import torch, triton, triton.language as tl
from triton_ext.backends import cpu
cpu.activate()

@triton.jit
def handshake(flags, data, out, ROUNDS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        for r in range(ROUNDS):
            seen = r
            while seen <= r:
                {wait}
            tl.store(out + r * N + i, tl.load(data + i))
            tl.debug_barrier()
            tl.atomic_xchg(flags + 32, r + 1)
    else:
        for r in range(ROUNDS):
            tl.store(data + i, r * 1000 + i)
            tl.debug_barrier()
            {publish}
            free = r
            while free <= r:
                free = tl.load(flags + 32, volatile=True)

for repetition in range(4):
    flags, data = torch.zeros(64, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    out = torch.zeros(6, 16, dtype=torch.int32)
    handshake[(2,)](flags, data, out, ROUNDS=6, N=16, num_threads=2)
    assert torch.equal(out, torch.arange(6, dtype=torch.int32)[:, None] * 1000 + torch.arange(16, dtype=torch.int32))
print("done")
"""
ONE = "tl.atomic_xchg(flags, r + 1)"
ALL = "tl.store(flags + i, r + 1)"
WAITS = {
    "scalar": ("seen = tl.load(flags, volatile=True)", ONE),
    "masked scalar": ("seen = tl.load(flags, mask=r >= 0, other=0, volatile=True)", ONE),
    "plain flag": ("seen = tl.load(flags, volatile=True)", "tl.store(flags, r + 1)"),
    "tensor": ("seen = tl.min(tl.load(flags + i, volatile=True), 0)", ALL),
    "masked tensor": ("seen = tl.max(tl.load(flags + i, mask=i < N - 3, other=-1, volatile=True), 0)", ALL),
    "gather": ("seen = tl.min(tl.load(flags + (i * 7 & 15), volatile=True), 0)", ALL),
    "same address": ("seen = tl.min(tl.load(flags + i * 0, volatile=True), 0)", ALL),
    "atomic": ("seen = tl.atomic_add(flags, 0, sem='relaxed')", ONE),
}


@pytest.mark.slow
@pytest.mark.parametrize("wait", WAITS)
def test_a_program_sees_what_another_writes(wait: str, tmp_path: Path) -> None:
    script = tmp_path / "handshake.py"
    read, publish = WAITS[wait]
    script.write_text(HANDSHAKE.format(wait=read, publish=publish))
    done = forked_python.run([sys.executable, script], env=os.environ, timeout=180)
    assert done.stdout == "done\n", done.stderr[-3000:]


@triton.jit
def copy(x, out, order, keep, other, N: tl.constexpr, KIND: tl.constexpr, GATHERED: tl.constexpr):
    i = tl.arange(0, N)
    at = x + i
    if GATHERED:
        at = x + tl.load(order + i)
    if KIND == "all":
        v = tl.load(at, volatile=True)
    elif KIND == "one address":
        v = tl.load(x + i * 0, volatile=True)
    elif KIND == "without other":
        v = tl.load(at, mask=tl.load(keep + i) != 0, volatile=True)
    else:
        v = tl.load(at, mask=tl.load(keep + i) != 0, other=tl.load(other + i), volatile=True)
    tl.store(out + i, v)


DTYPES = [torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2]


@pytest.mark.sampled
@pytest.mark.parametrize("gathered", [False, True], ids=["contiguous", "gathered"])
@pytest.mark.parametrize("kind", ["all", "masked", "without other", "one address"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_volatile_loads(dtype: torch.dtype, kind: str, gathered: bool) -> None:
    """Each lane gets its own element, by one access, and a lane whose mask is off gets `other`."""
    n = 64
    x = torch.randn(n).mul(50).to(dtype) if dtype is not torch.bool else torch.randn(n) > 0
    other = torch.ones(n).to(dtype)
    order, keep = torch.randperm(n, dtype=torch.int32), (torch.randn(n) > 0).to(torch.int32)
    out = torch.empty_like(x)
    kernel = copy[(1,)](x, out, order, keep, other, N=n, KIND=kind, GATHERED=gathered)

    def raw(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.contiguous().view(torch.uint8).reshape(n, -1)

    lanes = torch.zeros(n, dtype=torch.long) if kind == "one address" else order.long() if gathered else torch.arange(n)
    isOn = torch.full((n,), kind in {"all", "one address"}) | (keep != 0)
    otherwise = torch.zeros_like(raw(other)) if kind == "without other" else raw(other)
    assert torch.equal(raw(out), torch.where(isOn[:, None], raw(x)[lanes], otherwise))
    # The code is a loop over the 64 elements with one access in its body.
    code = kernel.asm["cpuir"]
    (load,) = re.findall(r"[^\n]*llvm\.load volatile[^\n]*", code)
    assert "atomic acquire" in load and "vector" not in load
    before = code[: code.index("llvm.load volatile")]
    start, end, step = re.findall(r"scf\.for %\S+ = (\S+) to (\S+) step (\S+)", before)[-1]
    constants = dict(re.findall(r"(%\S+) = arith\.constant (-?\d+) : i64", code))
    assert (constants[start], constants[end], constants[step]) == ("0", str(n), "1")
    # LLVM keeps them scalar, in a loop or unrolled.
    accesses = re.findall(r"= load ([^\n]*)", kernel.asm["llir"])
    assert any(access.startswith("atomic volatile") for access in accesses)
    assert not any("volatile" in access and "<" in access for access in accesses)


@triton.jit
def read_twice(x, out):
    a = tl.load(x, volatile=True)
    b = tl.load(x, volatile=True)
    tl.load(x, volatile=True)
    tl.store(out, b - a)


def test_no_volatile_load_is_merged_or_removed() -> None:
    kernel = read_twice[(1,)](torch.zeros(1), torch.zeros(1))
    assert kernel.asm["cpuir"].count("llvm.load volatile") == 3
    # LLVM unrolls the loop over the programs.
    count = kernel.asm["llir"].count("load atomic volatile")
    assert count > 0 and count % 3 == 0


@triton.jit
def behind_a_barrier(x, out, N: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, N)
    early = tl.load(x + i)
    if KIND == "barrier":
        tl.debug_barrier()
    else:
        tl.load(out + N, volatile=True)
    tl.store(out + i, early)


@pytest.mark.parametrize("kind", ["barrier", "volatile"])
def test_no_load_moves_behind_what_orders(kind: str) -> None:
    """A load that stands before a barrier, or before a volatile load of a flag, runs before it."""
    kernel = behind_a_barrier[(1,)](torch.zeros(16), torch.zeros(17), N=16, KIND=kind)
    before, _, after = kernel.asm["cpuir"].partition(
        "llvm.fence acq_rel" if kind == "barrier" else "llvm.load volatile"
    )
    assert after
    # The value is stored to scratch memory before it, and loaded from there after it.
    assert re.search(r"llvm\.load %\S+ [^\n]*vector", before), "the load is gone from its place"
    assert "llvm.store" in before and "llvm.store" in after


@triton.jit
def flag_behind_data(data, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(4):
        tl.store(data + i, k + i)
        tl.debug_barrier()
        tl.store(flag, k)


def test_a_barrier_keeps_the_order_of_stores() -> None:
    """Without the barrier, LLVM would write the data only once, behind the loop."""
    kernel = flag_behind_data[(1,)](torch.zeros(16, dtype=torch.int32), torch.zeros(1, dtype=torch.int32), N=16)
    code = kernel.asm["llir"]
    first = code.index("fence acq_rel")
    assert re.search(r"\n  store <\d+ x i32>", code[:first]), "the data is not written in front of the fence"
    assert re.search(r"\n  store i32", code[first:])
    assert "mfence" not in kernel.asm["asm"], "the fence costs no instruction"


@triton.jit
def atomics(x, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.atomic_add(x, 1, sem=SEM, scope=SCOPE)
    tl.atomic_cas(x + 1, 0, 1, sem=SEM, scope=SCOPE)


@triton.jit
def brain_atomics(x, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.atomic_add(x, 1.0, sem=SEM, scope=SCOPE)


ORDERS = {
    "relaxed": ("monotonic", "monotonic"),
    "acquire": ("acquire", "acquire"),
    "release": ("release", "monotonic"),
    "acq_rel": ("acq_rel", "acquire"),
}


@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
@pytest.mark.parametrize("sem", ORDERS)
def test_order_and_scope_of_atomics(sem: str, scope: str) -> None:
    """On the CPU, every scope is the whole system, because programs are threads of one process."""
    x = torch.zeros(2, dtype=torch.int32)
    kernel = atomics[(1,)](x, SEM=sem, SCOPE=scope)
    assert x.tolist() == [1, 1]
    success, failure = ORDERS[sem]
    assert re.search(rf"llvm\.atomicrmw [^\n]* {success} ", kernel.asm["cpuir"])
    assert re.search(rf"llvm\.cmpxchg [^\n]* {success} {failure} ", kernel.asm["cpuir"])
    assert "syncscope" not in kernel.asm["cpuir"]
    brain = torch.zeros(1, dtype=torch.bfloat16)
    kernel = brain_atomics[(1,)](brain, SEM=sem, SCOPE=scope)
    assert brain == 1 and re.search(rf"llvm\.cmpxchg [^\n]* {success} ", kernel.asm["cpuir"])
    # Other threads may write the initial value while it is read, so that load must be atomic.
    assert not re.search(r"llvm\.load (?!.*atomic)[^\n]*i16", kernel.asm["cpuir"])
