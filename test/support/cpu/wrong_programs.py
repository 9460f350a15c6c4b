# SPDX-License-Identifier: Apache-2.0
"""Kernels that access wrong memory or wait for each other, and programs that launch them:
``python -m support.cpu.wrong_programs NAME``.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import numpy as np
import triton
import triton.language as tl

from triton_ext.backends import cpu


@triton.jit
def wild(x, program, offset):
    number = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    if program < 0 or number == program:
        tl.store(x + offset, 1.0)  # WILD


@triton.jit
def gather(x, indices, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + tl.load(indices + i)))  # GATHER


@triton.jit
def copy(x, offset, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + BLOCK + i + offset, tl.load(x + i))  # COPY


@triton.jit
def zero(x, offset, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offset + i, 0.0)  # ZERO


@triton.jit
def wait(flag, offset):
    tl.atomic_poll(flag + offset, 1)


@triton.jit
def count(x):
    while tl.load(x) > 0:
        x += 1
    tl.atomic_add(x, 1)


@triton.jit
def spin_cas(flags, offset):
    """Each program waits for the next one."""
    p = tl.program_id(0)
    if p + 1 < tl.num_programs(0):
        while tl.atomic_cas(flags + p + 1 + offset, 1, 1) == 0:
            pass
    tl.atomic_xchg(flags + p, 1)


@triton.jit
def spin_volatile(flags, offset):
    p = tl.program_id(0)
    if p + 1 < tl.num_programs(0):
        while tl.load(flags + p + 1 + offset, volatile=True) == 0:
            pass
    tl.atomic_xchg(flags + p, 1)


@triton.jit
def spin_poll(flags, offset):
    p = tl.program_id(0)
    if p + 1 < tl.num_programs(0):
        tl.atomic_poll(flags + p + 1 + offset, 1)
    tl.atomic_xchg(flags + p, 1)


def line_of(mark: str) -> int:
    """Returns the number of the line of this file that ends with the comment `mark`."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if text.endswith(f"# {mark}"))


def spin(kernel: triton.JITFunction) -> None:
    """Launches 16 programs, of which each waits for the next one. After two seconds, this program releases all."""
    flags = np.ones(16, np.int32)
    kernel[(16,)](flags, 0)
    flags[:] = 0

    def release() -> None:
        time.sleep(2)
        print("released", flush=True)
        flags[:] = 1

    threading.Thread(target=release).start()
    kernel[(16,)](flags, 0)


def checked() -> None:
    """Launches kernels that access wrong memory."""
    x, y = np.zeros(64, np.float32), np.full(4, 5, np.float32)
    for launch in (
        lambda: wild[(10,)](x, 7, 1 << 34),
        lambda: gather[(1,)](x, np.array([0, 1, 1 << 40, 3]), y, BLOCK=4),
    ):
        try:
            launch()
        except Exception as error:
            print(error)
        print("====")
    print("no memory was touched" if not x.any() and not y.any() else "the loads were not suppressed")


if __name__ == "__main__":
    cpu.activate()
    name = sys.argv[1]
    if name == "checked":
        checked()
    else:
        spin(globals()[name])
