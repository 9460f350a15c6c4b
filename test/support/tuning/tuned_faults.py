# SPDX-License-Identifier: Apache-2.0
"""Kernels with candidates that end or stop their worker. Worker processes import them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import triton
import triton.language as tl

import triton_ext as tx
from support.tuning import standin, tuned
from triton_ext.tuning import limits

#: Seconds that a launch of a worker may take.
RUN_TIMEOUT = 3.0

if "TUNING_STANDIN" in os.environ:  # in a worker
    limits.GRACE = 1.0


def compute(arguments: dict[str, Any], factor: int) -> None:
    """Computes `standin.scale`, or fails in the way that the kernel's name says."""
    name = standin.launches[-1][0]
    if name == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "exits":
        sys.exit(3)
    if name == "interrupts":
        raise KeyboardInterrupt("of its own")
    if name == "alarms":
        os.kill(os.getpid(), signal.SIGALRM)
    if name == "hangs":
        time.sleep(3600)
    if name == "spins":  # in C, which keeps the lock of the interpreter
        re.match(r"(a+)+$", "a" * 60 + "b")
    if name == "dies_once":
        with contextlib.suppress(FileExistsError):
            Path(os.environ["TUNING_ONCE"]).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    standin.scale(arguments, factor)


def made(name: str, pipelines: tuple[str, ...], configs: list[triton.Config]) -> Any:
    """Returns a decorator that tunes a kernel `name`, whose `pipelines` rename it."""
    standin.COMPUTE[name] = compute
    return tx.autotune(
        configs,
        ["n"],
        pipelines={"plain": tx.Pipeline()} | {other: tuned.renamed(other, name) for other in pipelines},
        do_bench=standin.Bench(tuned.TIMES | {(name, 32): 5.0}),
        arguments=tuned.make_arguments,
        run_timeout=RUN_TIMEOUT,
        rounds=1,
    )


@made("one_dies", ("dies", "fast"), tuned.CONFIGS[:2])
@triton.jit
def one_dies(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("one_exits", ("exits", "fast"), tuned.CONFIGS[:1])
@triton.jit
def one_exits(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("one_dies_once", ("dies_once", "fast"), tuned.CONFIGS[:1])
@triton.jit
def one_dies_once(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("one_spins", ("spins", "fast"), tuned.CONFIGS[:1])
@triton.jit
def one_spins(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("one_hangs", ("hangs", "fast"), tuned.CONFIGS[:1])
@triton.jit
def one_hangs(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("some_die", ("dies", "fast"), tuned.CONFIGS[:1])
@triton.jit
def some_die(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("one_interrupts", ("interrupts", "fast"), tuned.CONFIGS[:1])
@triton.jit
def one_interrupts(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@made("one_alarms", ("alarms", "fast"), tuned.CONFIGS[:1])
@triton.jit
def one_alarms(x, y, n, BLOCK: tl.constexpr):
    """y = 2 * x."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
