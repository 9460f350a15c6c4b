# SPDX-License-Identifier: Apache-2.0
"""What counts and regions cost on the CPU backend, so that other work on the machine does not decide: ``--help``.

One thread, bound to one processor, runs the kernel with and without the probe in turns, many rounds, each turn a few
milliseconds long. In each round, the time with the probe is divided by the time without it. A row is the median of
these ratios with its 95 % interval, by bootstrap over the rounds: of the wall time, of the processor time, and of the
user-mode instructions, where perf_event_open is allowed and the processor counts them. Instructions do not depend on
other work at all.

``--direct`` is for a machine with other work: a turn calls the kernel's function for so many programs as take about
0.1 ms, without a launch, so few turns are interrupted. Chance decides which programs a turn has.

Without the checkout's .venv: ``PYTHONPATH=DIR:python TRITON_EXT_CPU_THREADS=1 python benchmarks/probe.py``, where DIR
has Triton 3.9, NumPy, torch and the dist-info of triton_ext, by whose entry point Triton finds the backend, and the
checkout's libraries are built.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

PROBES = ("none", "none again", "count", "region")


@dataclass(frozen=True)
class Launch:
    """A kernel, its grid and its arguments."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        """Launches the kernel, and returns it."""
        return self.kernel[self.grid](*self.arguments)


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
        grid = (triton.cdiv(n, block * tiles),)
        return lambda what, each: Launch(add, grid, (x, y, z, n, tiles, block, what, each))

    def multiplying(what: str, each: bool) -> Launch:
        grid = (size // tile[0] * (size // tile[1]),)
        return Launch(matmul, grid, (a, b, c, size, size, *tile, what, each))

    def attending(what: str, each: bool) -> Launch:
        grid = (length // 64, heads)
        return Launch(attention, grid, (q, k, v, o, 0.18, length, width, 64, 64, what, each))

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


class Function:
    """The function of a kernel, which runs a range of programs in this thread, without a launch.

    Args:
        launch: the kernel with its grid and arguments; is launched once.
        session: that the probes write to.
        folder: for the kernel's library.
    """

    def __init__(self, launch: Launch, session: probe.Session, folder: Path) -> None:
        kernel = launch()
        library = folder / f"{len(list(folder.iterdir()))}.so"
        library.write_bytes(kernel.asm["so"])
        self._function = getattr(ctypes.CDLL(str(library)), kernel.name)
        formats = {"i32": "i4x", "fp32": "f4x"}
        packed = b""
        for value, kind in zip(launch.arguments, kernel.src.signature.values(), strict=True):
            if kind.startswith("*"):
                packed += struct.pack("q", value.data_ptr())
            elif kind != "constexpr":
                packed += struct.pack(formats[kind], value)
        packed += struct.pack("q", next((sink.data_ptr() for sink in session._buffers.values()), 0))
        self._arguments = ctypes.create_string_buffer(packed)
        self._grid = (ctypes.c_int32 * 3)(*launch.grid, *(1,) * (3 - len(launch.grid)))
        self._memory = np.zeros(kernel.metadata.scratch + 4096, np.uint8)
        self._scratch = ctypes.c_void_p(-(-self._memory.ctypes.data // 4096) * 4096)

    def __call__(self, first: int, end: int) -> float:
        """Runs the programs from `first` to `end` - 1, and returns how long that has taken, in ns."""
        start = time.perf_counter_ns()
        left = self._function(self._arguments, ctypes.c_int64(first), ctypes.c_int64(end), self._grid, self._scratch)
        after = time.perf_counter_ns()
        assert left == 0
        return after - start


def measure_directly(
    launches: dict[str, Launch], session: probe.Session, rounds: int, turn: float
) -> tuple[dict[str, np.ndarray], int]:
    """Returns for each launch the wall time of a turn in each round, in ns, and how many programs a turn has.

    Args:
        launches: by name; the first one is the one without a probe.
        session: that their probes write to.
        rounds: how often each one gets its turn.
        turn: seconds of a turn.
    """
    with tempfile.TemporaryDirectory() as folder:
        next(reversed(launches.values()))()  # makes the buffer
        functions = {name: Function(launch, session, Path(folder)) for name, launch in launches.items()}
    total = int(np.prod(next(iter(launches.values())).grid))
    one = min(functions["none"](i, i + 1) for i in range(min(total, 32)))
    step = min(max(int(turn * 1e9 / one), 1), total)
    found: dict[str, list[float]] = {name: [] for name in functions}
    names, since = list(functions), 0
    firsts = iter(np.random.default_rng(0).integers(0, total // step, rounds * len(names)).tolist())
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            if since >= 2 * total:
                empty_buffer(session)
                since = 0
            first = next(firsts) * step
            found[name].append(functions[name](first, first + step))
            since += step
    return {name: np.array(rows, float)[:, None] for name, rows in found.items()}, step


def ratio(values: np.ndarray, base: np.ndarray) -> tuple[float, float, float]:
    """Returns the median of the ratios of each round - 1 in percent, and its 95 % interval."""
    ratios = values / base
    chosen = np.random.default_rng(0).integers(0, len(ratios), (4000, len(ratios)))
    low, high = np.quantile(np.median(ratios[chosen], axis=1), (0.025, 0.975))
    return tuple(100 * (float(one) - 1) for one in (np.median(ratios), low, high))


def launch_cost(rounds: int) -> None:
    """Prints what a launch of a kernel that does next to nothing costs the host, in a session."""
    x, y, z = (torch.zeros(16) for _ in range(3))
    with probe.session(capacity=2**20) as s:
        launches = {what: Launch(add, (1,), (x, y, z, 16, 1, 16, what, False)) for what in PROBES}
        found = measure(launches, s, rounds, 0.002)
    alone = float(np.median(found["none"][:, 1])) / 1e3
    more = ", ".join(
        f"{name} {float(np.median(values[:, 1] - found['none'][:, 1])) / 1e3:+.2f} µs"
        for name, values in found.items()
        if name != "none"
    )
    print(f"a launch in a session, of one program with a tile of 16: {alone:.2f} µs; {more}", flush=True)


def _processor() -> str:
    """Returns the name of this machine's processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="turns of each kernel (default: %(default)s)")
    parser.add_argument("--turn", type=float, help="seconds of a turn (default: 0.004, or 0.0001 with --direct)")
    parser.add_argument("--direct", action="store_true", help="call the kernels' functions, without launches")
    parser.add_argument("--core", type=int, help="the processor to run on (default: the last one that is allowed)")
    parser.add_argument("kernels", nargs="*", help="beginnings of the names of kernels; default: all")
    options = parser.parse_args()
    options.turn = options.turn or (0.0001 if options.direct else 0.004)
    torch.set_num_threads(1)
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    os.sched_setaffinity(0, {core})
    has_instructions = Instructions().available
    lines = [
        f"Triton {triton.__version__}, {options.rounds} rounds of {options.turn * 1e3:g} ms, one thread on processor "
        f"{core}; instructions are {'' if has_instructions else 'not '}counted",
        "median of the ratios to the kernel without a probe, and its 95 % interval",
        f"{_processor()}; load average of {os.cpu_count()} processors {os.getloadavg()[0]:.1f}",
    ]
    for line in lines:
        print(line, flush=True)
    if not options.direct:
        launch_cost(options.rounds)
    chosen = tuple(options.kernels) or ("",)
    for title, make in cases().items():
        for each_turn in (False, True) if title.startswith(chosen) else ():
            with probe.session(capacity=2**24) as s:
                launches = {what: make(what.split()[0], each_turn) for what in PROBES}
                if options.direct:
                    found, programs = measure_directly(launches, s, options.rounds, options.turn)
                else:
                    found = measure(launches, s, options.rounds, options.turn)
            base = found["none"]
            microseconds = np.median(base[:, 0]) / 1e3
            amount = f" for {programs} programs" if options.direct else ""
            print(f"{title}, in each {'turn' if each_turn else 'program'}: {microseconds:.1f} µs{amount}", flush=True)
            for name, values in found.items():
                if name == "none":
                    continue
                columns = ["wall", "processor", "instructions"][: 1 if options.direct else 2 + has_instructions]
                texts = []
                for i, column in enumerate(columns):
                    middle, low, high = ratio(values[:, i], base[:, i])
                    texts.append(f"{column} {middle:+6.2f} % ({low:+.2f} to {high:+.2f})")
                lost = f", lost {sum(s.lost().values())}" if s.lost() else ""
                print(f"  {name:<12}" + "  ".join(texts) + lost, flush=True)


if __name__ == "__main__":
    main()
