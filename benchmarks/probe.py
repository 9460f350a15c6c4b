# SPDX-License-Identifier: Apache-2.0
"""What counts and regions cost on the CPU backend, so that other work on the machine does not decide: ``--help``.

One thread, bound to one processor, runs the kernel with and without the probe in turns, many rounds, each turn a few
milliseconds long. A row is the ratio of the medians with its 95 % interval, by bootstrap over the rounds: of the wall
time, of the processor time, and of the user-mode instructions, where perf_event_open is allowed and the processor
counts them. Instructions do not depend on other work at all.

Without the checkout's .venv: ``PYTHONPATH=DIR:python TRITON_EXT_CPU_THREADS=1 python benchmarks/probe.py``, where DIR
has Triton 3.9, NumPy and torch, and the checkout's libraries are built.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import os
import platform
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_BACKEND", "cpu")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
os.environ["TRITON_EXT_CPU_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parent / "gpu"))

import numpy as np
import torch
import triton
from probe_kernels import add, attention, matmul

from triton_ext import probe

Launch = Callable[[], object]
PROBES = ("none", "none again", "count", "region")


class Instructions:
    """Counts the instructions of this thread in user mode; `available` says whether the machine lets it."""

    def __init__(self) -> None:
        # struct perf_event_attr: hardware, its size, instructions; without the kernel and the hypervisor.
        attributes = struct.pack("IIQQQQQ", 0, 112, 1, 0, 0, 0, 0b1100000).ljust(112, b"\0")
        number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
        self._file = -1
        if number is not None:
            self._file = ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, 0)
        self.available = self._file >= 0

    def read(self) -> int:
        """Returns how many there were until now; 0 if they are not counted."""
        return int.from_bytes(os.read(self._file, 8), sys.byteorder) if self.available else 0


def cases() -> dict[str, Callable[[str, bool], Launch]]:
    """Returns for each kernel a function that takes what to observe, and whether in each turn, and makes its launch."""
    n, block = 2**22, 8192
    x, y, z = (torch.randn(n) for _ in range(3))
    size, tile = 512, (64, 64, 32)
    a, b, c = (torch.randn((size, size), dtype=torch.float16) for _ in range(3))
    heads, length, width = 2, 1024, 64
    q, k, v, o = (torch.randn((heads, length, width), dtype=torch.float16) for _ in range(4))

    def adding(tiles: int) -> Callable[[str, bool], Launch]:
        return lambda what, each: functools.partial(
            add[(triton.cdiv(n, block * tiles),)], x, y, z, n, tiles, block, what, each
        )

    def multiplying(what: str, each: bool) -> Launch:
        grid = (size // tile[0] * (size // tile[1]),)
        return functools.partial(matmul[grid], a, b, c, size, size, *tile, what, each)

    def attending(what: str, each: bool) -> Launch:
        grid = (length // 64, heads)
        return functools.partial(attention[grid], q, k, v, o, 0.18, length, width, 64, 64, what, each)

    return {
        f"add, {n // block} programs of one tile of {block}": adding(1),
        f"add, {n // block // 8} programs of 8 tiles": adding(8),
        f"matmul {size}^3 in tiles of 64x64x32": multiplying,
        f"attention {heads}x{length}x{width} in tiles of 64": attending,
    }


def empty_buffer(session: probe.Session) -> None:
    """Makes room for records again, so that no launch measures a full buffer."""
    for sink in session._buffers.values():
        sink.memory[probe._layout.CURSOR] = 0
        sink.memory[probe._layout.SHARD_CURSORS : probe._layout.DIRECTORY] = 0


def measure(launches: dict[str, Launch], session: probe.Session, rounds: int, turn: float) -> dict[str, np.ndarray]:
    """Returns for each launch a row for each round: wall time and processor time in ns, and instructions.

    Args:
        launches: by name; the first one is the one without a probe.
        session: that their probes write to.
        rounds: how often each one gets its turn.
        turn: seconds of a turn.
    """
    for launch in launches.values():
        launch()  # compiles
    first = next(iter(launches.values()))
    start = time.perf_counter()
    for _ in range(5):
        first()
    times = max(int(turn / ((time.perf_counter() - start) / 5)), 1)
    counter = Instructions()
    found: dict[str, list[tuple[int, int, int]]] = {name: [] for name in launches}
    for number in range(rounds):
        names = list(launches)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            launch = launches[name]
            empty_buffer(session)
            launch()  # what the other kernels have left in the caches does not count
            before = time.perf_counter_ns(), time.process_time_ns(), counter.read()
            for _ in range(times):
                launch()
            after = time.perf_counter_ns(), time.process_time_ns(), counter.read()
            found[name].append(tuple((b - a) / times for a, b in zip(before, after, strict=True)))
    return {name: np.array(rows, float) for name, rows in found.items()}


def ratio(values: np.ndarray, base: np.ndarray) -> tuple[float, float, float]:
    """Returns the ratio of the medians - 1 in percent, and its 95 % interval; the values of a round stay together."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, len(values), (4000, len(values)))
    ratios = np.median(values[chosen], axis=1) / np.median(base[chosen], axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    middle = np.median(values) / np.median(base)
    return tuple(100 * (float(one) - 1) for one in (middle, low, high))


def launch_cost(rounds: int) -> None:
    """Prints what a launch of a kernel that does next to nothing costs the host, in a session."""
    x, y, z = (torch.zeros(16) for _ in range(3))
    with probe.session(capacity=2**20) as s:
        launches = {what: functools.partial(add[(1,)], x, y, z, 16, 1, 16, what, False) for what in PROBES}
        found = measure(launches, s, rounds, 0.002)
    alone = float(np.median(found["none"][:, 1])) / 1e3
    more = ", ".join(
        f"{name} {float(np.median(values[:, 1] - found['none'][:, 1])) / 1e3:+.2f} µs"
        for name, values in found.items()
        if name != "none"
    )
    print(f"a launch in a session, of one program with a tile of 16: {alone:.2f} µs; {more}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="turns of each kernel (default: %(default)s)")
    parser.add_argument("--turn", type=float, default=0.004, help="seconds of a turn (default: %(default)s)")
    parser.add_argument("--core", type=int, help="the processor to run on (default: the last one that is allowed)")
    parser.add_argument("kernels", nargs="*", help="beginnings of the names of kernels; default: all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    os.sched_setaffinity(0, {core})
    has_instructions = Instructions().available
    lines = [
        f"Triton {triton.__version__}, {options.rounds} rounds of {options.turn * 1e3:.0f} ms, one thread on processor "
        f"{core}; instructions are {'' if has_instructions else 'not '}counted",
        "ratio of medians to the kernel without a probe, and its 95 % interval",
    ]
    for line in lines:
        print(line, flush=True)
    launch_cost(options.rounds)
    chosen = tuple(options.kernels) or ("",)
    for title, make in cases().items():
        for each_turn in (False, True) if title.startswith(chosen) else ():
            with probe.session(capacity=2**24) as s:
                launches = {what: make(what.split()[0], each_turn) for what in PROBES}
                found = measure(launches, s, options.rounds, options.turn)
            base = found["none"]
            microseconds = np.median(base[:, 0]) / 1e3
            print(f"{title}, in each {'turn' if each_turn else 'program'}: {microseconds:.1f} µs", flush=True)
            for name, values in found.items():
                if name == "none":
                    continue
                columns = ["wall", "processor", "instructions"][: 2 + has_instructions]
                texts = []
                for i, column in enumerate(columns):
                    middle, low, high = ratio(values[:, i], base[:, i])
                    texts.append(f"{column} {middle:+6.2f} % ({low:+.2f} to {high:+.2f})")
                lost = f", lost {sum(s.lost().values())}" if s.lost() else ""
                print(f"  {name:<12}" + "  ".join(texts) + lost, flush=True)


if __name__ == "__main__":
    main()
