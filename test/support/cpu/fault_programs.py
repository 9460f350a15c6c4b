# SPDX-License-Identifier: Apache-2.0
"""Kernels that fail or run for long, and programs that launch them: ``python -m support.cpu.fault_programs NAME``.

Each program runs in a process of its own, because it may crash, is interrupted, or lowers the limits of its process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import triton
import triton.language as tl

from triton_ext.backends import cpu


@triton.jit
def fill(x, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, value, mask=i < n)


@triton.jit
def slow(x, rounds):
    """Runs for about 10 ns for each round."""
    s = 0.0
    for _ in range(rounds):
        s = tl.exp(s) * 0.5
    tl.store(x + tl.program_id(0) % 64, s)


@triton.jit
def wild(x, program, offset):
    tl.store(x + tl.where(tl.program_id(0) == program, offset, 0), 1.0)


@triton.jit
def wait(flag):
    tl.atomic_poll(flag, 1)


@triton.jit
def pairs(x, BLOCK: tl.constexpr):
    """Sorts, which needs scratch memory."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(x + i, tl.sort(v))


def check(programs: int = 100) -> None:
    """Checks that a launch computes the correct result."""
    x = np.zeros(programs * 64, np.float32)
    fill[(programs,)](x, 3.0, x.size, BLOCK=64)
    assert (x == 3).all()


def warned(launch: Callable[[], object]) -> list[str]:
    """Returns the warnings of `launch`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        launch()
    return [str(one.message) for one in caught if "TRITON_DEFAULT_FP_FUSION" not in str(one.message)]


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def environment() -> None:
    """The environment sets the number of threads."""
    found = warned(lambda: [check(5000) for _ in range(3)])
    print(len(found), *found)


def no_processes() -> None:
    """The user cannot make more threads. The program gives up root, for which there is no such limit."""
    check(1)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    if os.getuid() == 0:
        os.setuid(54321)
    found = warned(lambda: [check() for _ in range(3)])
    print(threads(), len(found), *found)


def no_memory() -> None:
    """The address space has no room for another thread's stack."""
    check(1)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + (5 << 20), size + (5 << 20)))
    found = warned(lambda: [check() for _ in range(3)])
    print(threads(), len(found), *found)


def first_launches() -> None:
    """Many threads launch a kernel that none of them has launched before."""
    errors: list[BaseException] = []

    def launch(barrier: threading.Barrier, block: int) -> None:
        x = np.zeros(1024, np.float32)
        barrier.wait()
        try:
            for value in range(50):
                fill[(8,)](x, float(value), x.size, BLOCK=block)
                assert x[block - 1] == value
        except BaseException as error:
            errors.append(error)

    for block in (16, 32, 64, 128, 256):
        barrier = threading.Barrier(32)
        running = [threading.Thread(target=launch, args=(barrier, block)) for _ in range(32)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    print(len(errors), *errors[:1])


def interrupts() -> None:
    """Ctrl-C repeatedly interrupts launches that would take hours."""
    x = np.zeros(64, np.float32)
    for programs, rounds in ((1 << 24, 1000), (1 << 30, 10), (1 << 20, 100_000)):
        for _ in range(2):
            slow[(1,)](x, rounds)
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            started = time.monotonic()
            try:
                slow[(programs,)](x, rounds)
                print("it went on")
            except KeyboardInterrupt:
                print("interrupted" if time.monotonic() - started < 10 else "late")
            check()


def interrupted_twice() -> None:
    """The second Ctrl-C comes while the first one waits for programs to end."""
    x = np.zeros(64, np.float32)
    slow[(1,)](x, 1000)
    for delay in (0.2, 0.3):
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
    caught = []
    try:
        try:
            slow[(1000,)](x, 20_000_000)
        except KeyboardInterrupt:
            caught.append("first")
            time.sleep(2)
    except KeyboardInterrupt:
        caught.append("second")
    check()
    print(*caught)


def interrupted_wait() -> None:
    """Ctrl-C interrupts a program that waits for a value that nobody writes."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        wait[(4,)](np.zeros(1, np.int32))
    except KeyboardInterrupt:
        check()
        print("interrupted")


def other_signals() -> None:
    """A Python signal handler runs during a launch, and may launch, fork, raise or do nothing."""
    x = np.zeros(64, np.float32)
    y = np.zeros(1 << 16, np.float32)
    done = []

    def launch(*_: object) -> None:
        pairs[(1,)](y, BLOCK=1 << 10)  # must not use the scratch memory of the interrupted launch
        check()
        done.append("launched")

    def fork(*_: object) -> None:
        done.append("forked")
        if os.fork() == 0:
            done.append("child")

    def fail(*_: object) -> None:
        raise LookupError("from a handler")

    pairs[(1,)](y, BLOCK=1 << 10)
    for handler in (launch, fork, fail):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        x[:] = 0
        try:
            slow[(3000,)](x, 20_000)
            done.append("ended")
        except LookupError as error:
            done.append(str(error))
        except RuntimeError as error:
            if "child" in done:
                os._exit(7 if "has forked during the launch" in str(error) else 8)
            raise
        if "child" in done:
            os._exit(9)
        if handler is fork:
            _, status = os.wait()
            done.append(str(os.waitstatus_to_exitcode(status)))
    check()
    print(*done, sep=", ")


def crash() -> None:
    """A signal that is not a fault of the kernel ends the process while a kernel runs."""
    x = np.zeros(64, np.float32)
    slow[(1,)](x, 1000)
    print("so far", flush=True)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGSEGV)).start()
    slow[(1 << 24,)](x, 100_000)


def crash_below_faulthandler() -> None:
    """Python's faulthandler is installed before the runtime's handler."""
    faulthandler.enable()
    crash()


def crash_above_faulthandler() -> None:
    """Python's faulthandler is installed after the runtime's handler."""
    check()
    faulthandler.enable()
    crash()


def faults_below_another_handler() -> None:
    """Another handler is installed after the runtime's; faults of kernels do not reach it, all others do."""
    check()
    faulthandler.enable()
    time.sleep(0.1)
    x = np.zeros(64, np.float32)
    for _ in range(3):
        try:
            wild[(10,)](x, 7, 1 << 34)
        except RuntimeError as error:
            print("program (7, 0, 0)" in str(error))
        check()
    print(faulthandler.is_enabled(), flush=True)
    ctypes.string_at(8)


if __name__ == "__main__":
    # A shell ignores interrupts in what it starts in the background, and so would this process, its child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cpu.activate()
    globals()[sys.argv[1]]()
