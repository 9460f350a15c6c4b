# SPDX-License-Identifier: Apache-2.0
"""Kernels and inputs for the server; a test copies this file under its root. Much of it is meant to break something."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path

import torch
import triton
import triton.language as tl

import triton_ext as tx


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def accumulate(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(y + i, mask=i < n) + tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def unmasked(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i))


@triton.jit
def endless(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    while n > 0:
        tl.store(y + i, tl.load(x + i))


@tx.use(tx.Pipeline().skip("ttir:common.cse"))
@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2)], key=[])
@triton.jit
def tuned(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def numbers():
    x = torch.arange(256.0)
    return {"x": x, "y": torch.full((256,), -1.0), "n": 256, "BLOCK": 64, "grid": (4,)}


def two_launches():
    yield numbers()
    yield {**numbers(), "n": 64, "grid": (1,)}


def without_grid():
    return {name: value for name, value in numbers().items() if name != "grid"}


def grid_of(arguments):
    return (triton.cdiv(arguments["n"], arguments["BLOCK"]),)


def without_block():
    return {name: value for name, value in numbers().items() if name != "BLOCK"}


# Inputs that break.


def raises():
    raise ValueError("no such data")


def raises_odd_text():
    raise ValueError("\ud800 \0 \x1b[31m")


def never_returns():
    while True:
        pass


def never_ends():
    while True:
        yield numbers()


def waits_for_input():
    return {"x": sys.stdin.read() or time.sleep(1000)}


def needs_memory():
    return {"x": torch.zeros(1 << 36)}


def allocates_for_ever():
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def prints_for_ever():
    while True:
        print("spam" * 1000, "\n" * 10, flush=True)


def writes_answers():
    print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)
    return numbers()


def returns_text():
    return "x"


def faults():
    ctypes.string_at(0)


def exits():
    sys.exit(3)


def exits_at_once():
    os._exit(7)


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def has_a_thread_that_stays():
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return numbers()


def leaves_a_process():
    """Starts a process that leaves its group and its session, and writes its id into the root."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            Path(__file__).with_name("left.txt").write_text(str(os.getpid()))
            time.sleep(1000)
        os._exit(0)
    time.sleep(0.3)
    return numbers()


def forges_an_answer():
    for number in range(3, 64):
        try:
            os.write(number, b'{"status": "ok", "text": 1}\n')
        except OSError:
            continue
    os._exit(0)


# Passes as functions.


def aborts(module):
    os.abort()


def loops(module):
    while True:
        pass


def changes_nothing(module):
    pass


def fails(module):
    raise RuntimeError("this pass never works")
