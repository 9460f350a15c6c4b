# SPDX-License-Identifier: Apache-2.0
"""Attacks on launches on the CPU: threads, forks, limits, grids, arrays, Ctrl-C and crashes.

Each runs in a process of its own, ``python -m support.attacks.cpu NAME SEED SCALE``, because the worst that could get
through ends that process.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
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

from support.attacks.attack import Attack, Outcome, run_in_process
from support.cpu.fault_programs import fill, slow, wild

THREADS = 64


@triton.jit
def copy(source, target, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(target + i, tl.load(source + i, mask=i < n), mask=i < n)


@triton.jit
def ragged(x, short, rounds):
    if tl.program_id(0) >= short:
        s = 0.0
        for _ in range(rounds):
            s = tl.exp(s) * 0.5
        tl.store(x + tl.program_id(0) % 64, s)


def is_filled(value: float, programs: int = 100) -> bool:
    """Returns whether a launch gives the right result."""
    x = np.zeros(programs * 64, np.float32)
    fill[(programs,)](x, value, x.size, BLOCK=64)
    return bool((x == value).all())


def in_fork(action: Callable[[], bool], errors: Path | None = None) -> int:
    """Runs `action` in a fork. Returns 0 for True, 1 for False, 2 for an exception, and less than 0 for a signal."""
    pid = os.fork()
    if pid == 0:
        code = 2
        try:
            if errors is not None:
                os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            code = 0 if action() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def launches(chance: random.Random, scale: int) -> Outcome:
    """Launches from 64 threads at once, each on its own arrays; got through: a wrong result, or an error."""
    turns = 105 * scale  # at a scale of 20, 2.1 million launches
    again = 15
    wrong: list[object] = []

    def work(number: int) -> None:
        x = np.zeros(1024, np.float32)
        for turn in range(turns):
            value = float(number * 1000 + turn % 1000)
            try:
                kernel = fill[(8,)](x, value, x.size, BLOCK=128)  # all threads compile it at the same time
                if x[turn % 1024] != value or x[-1] != value:
                    wrong.append(value)
                for more in range(1, again + 1):  # with less time in Python between launches
                    kernel[(8, 1, 1)](x, value + more, x.size, 128)
                if x[turn % 1024] != value + again or x[-1] != value + again:
                    wrong.append(value + again)
            except Exception as error:
                wrong.append(error)

    is_filled(1.0)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Outcome(THREADS * turns * (1 + again), len(wrong), ", ".join(map(str, wrong[:3])))


def forks(chance: random.Random, scale: int) -> Outcome:
    """Forks of a process whose pool has threads; got through: parent or child cannot launch any more."""

    def child() -> bool:
        return is_filled(2.0) and is_filled(3.0) and in_fork(lambda: is_filled(4.0)) == 0

    is_filled(1.0)
    through = sum(in_fork(child) != 0 or not is_filled(float(turn)) for turn in range(15 * scale))
    return Outcome(15 * scale, through)


def limits(chance: random.Random, scale: int) -> Outcome:
    """Launches when no threads can be made; got through: the process ends, or a result is wrong."""
    fill[(1,)](np.zeros(64, np.float32), 1.0, 64, BLOCK=64)  # this compiles the kernel and makes no thread

    def limited(kind: str, amount: int) -> bool:
        if kind == "processes":
            resource.setrlimit(resource.RLIMIT_NPROC, (amount, amount))
            if os.getuid() == 0:
                os.setuid(54321)
        else:
            size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + (amount << 20)
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        try:
            return all(is_filled(value) for value in (2.0, 3.0))
        except (MemoryError, RuntimeError) as error:  # an error must not end the process
            return isinstance(error, MemoryError) or "memory" in str(error)

    bad = []
    for _ in range(10 * scale):
        case = chance.choice(["processes", "space"]), chance.choice([1, 2, 5, 9, 17, 40])
        code = in_fork(lambda case=case: limited(*case))
        bad += [f"{case}: {code}"] if code else []
    return Outcome(10 * scale, len(bad), ", ".join(bad[:3]))


def grids(chance: random.Random, scale: int) -> Outcome:
    """Grids at and beyond the limits; got through: one that is too large, or negative, is not an error."""
    sizes = [
        -(2**64),
        -(2**31),
        -1,
        0,
        1,
        2,
        3,
        2**15,
        2**21,
        2**22,
        2**31 - 1,
        2**31,
        2**32,
        2**32 + 1,
        2**63,
        2**64 + 1,
    ]
    through, tried = [], 0
    x = np.zeros(64, np.float32)
    for _ in range(200 * scale):
        grid = tuple(chance.choice(sizes) for _ in range(chance.randint(1, 3)))
        is_bad = any(not 0 <= size < 2**31 for size in grid) or (0 not in grid and np.prod(grid, dtype=object) > 2**62)
        if not is_bad and np.prod(grid, dtype=object) > 2**16:
            continue  # would run for years
        tried += 1
        try:
            fill[grid](x, 1.0, 64, BLOCK=64)
            refused = False
        except ValueError:
            refused = True
        through += [grid] if refused != is_bad else []
    return Outcome(tried, len(through), ", ".join(map(str, through[:3])))


def arrays(chance: random.Random, scale: int) -> Outcome:
    """Arrays in either byte order, writeable or not; got through: a wrong result, or a write to what is read-only."""
    through = []
    for _ in range(100 * scale):
        kind = chance.choice(["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
        values = np.array([chance.randrange(100) for _ in range(64)])
        orders = [chance.choice("<>=") for _ in range(2)]
        source, target = values.astype(orders[0] + kind), np.zeros(64, orders[1] + kind)
        source.flags.writeable, target.flags.writeable = chance.random() < 0.5, chance.random() < 0.7
        is_bad = not (source.dtype.isnative and target.dtype.isnative and target.flags.writeable)
        try:
            copy[(1,)](source, target, 64, BLOCK=64)
            refused = False
        except ValueError:
            refused = True
        is_right = bool((target == (0 if is_bad else values)).all())
        through += [f"{source.dtype} to {target.dtype}"] if refused != is_bad or not is_right else []
    return Outcome(100 * scale, len(through), ", ".join(through[:3]))


def interrupts(chance: random.Random, scale: int) -> Outcome:
    """Ctrl-C at any time of a launch, also where long programs follow on short ones.

    Got through: it goes on for two seconds (without an interrupt it would for minutes), or the next launch is wrong.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which Python lacks in a shell's background job
    through, slowest = 0, 0.0
    x = np.zeros(64, np.float32)
    sent = [0.0]

    def send() -> None:
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    kinds = [(slow, (rounds,)) for rounds in (10, 1000, 100_000)]
    # The chunks of programs that a thread takes begin with short programs; a long one takes some ms.
    kinds += [(ragged, (short, 100_000)) for short in (2**21 * 5 + 4000, 2**23 + 100_000)]
    for (kernel, arguments), turn in itertools.product(kinds, range(2 * scale)):
        kernel[(1,)](x, *arguments)
        timer = threading.Timer(chance.uniform(0.02, 0.2), send)
        try:
            timer.start()
            kernel[(2**30,)](x, *arguments)
            through += 1
        except KeyboardInterrupt:
            took = time.perf_counter() - sent[0]
            slowest = max(slowest, took)
            through += took > 2 or not is_filled(float(turn))
        timer.join()
    return Outcome(2 * len(kinds) * scale, through, f"the slowest ended after {slowest * 1000:.0f} ms")


def crashes(chance: random.Random, scale: int) -> Outcome:
    """Stores to addresses without memory; got through: no error, or one without the kernel and the program, or a later
    launch fails.
    """
    x = np.zeros(64, np.float32)
    wild[(10,)](x, 1000, 0)
    wild[(10,)](x, 1000, 1 << 33)
    through = 0
    for _ in range(50 * scale):
        programs = chance.choice([1, 10, 10_000])
        bad = chance.randrange(programs)
        try:
            wild[(programs,)](x, bad, 1 << 33)
            through += 1
        except RuntimeError as error:
            text = str(error)
            through += "SIGSEGV in the kernel 'wild' (" not in text or f"program ({bad}, 0, 0)" not in text
        through += not is_filled(float(bad))
    return Outcome(50 * scale, through)


#: By name: the attack and the number of threads that launches ask for.
_RUNS: dict[str, tuple[Callable[[random.Random, int], Outcome], int]] = {
    "launches from 64 threads": (launches, 4),
    "forks": (forks, 4),
    "limits of threads and memory": (limits, 40),
    "grids": (grids, 2),
    "byte orders and read-only arrays": (arrays, 2),
    "Ctrl-C": (interrupts, 4),
    "crashes": (crashes, 4),
}


def _in_process(name: str) -> Attack:
    def run(chance: random.Random, scale: int) -> Outcome:
        command = ["-m", "support.attacks.cpu", name, str(chance.randrange(1 << 30)), str(scale)]
        return run_in_process(command, 120 + 60 * scale, TRITON_EXT_CPU_THREADS=str(_RUNS[name][1]))

    return Attack(name, run)


ATTACKS: list[Attack] = [_in_process(name) for name in _RUNS]


if __name__ == "__main__":
    from triton_ext.backends import cpu

    cpu.activate()
    warnings.simplefilter("ignore")
    found = _RUNS[sys.argv[1]][0](random.Random(int(sys.argv[2])), int(sys.argv[3]))
    print(json.dumps(dataclasses.asdict(found)))
