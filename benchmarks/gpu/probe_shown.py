# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what a session shows of a matrix product and of attention, and where both are below their roofline.

For each kernel it times the form without probes, computes its roofline, and runs the form with regions in a session.
Writes into the directory that ``--out`` names: ``shown.txt``, which has what is printed, a timeline for Perfetto of
each kernel, ``points.json``, and, where matplotlib is installed, ``roofline.svg`` and pictures of the regions.
``--plot DIR`` draws the roofline later. ``--cpu`` runs small forms on this machine's processor.

Needs PyTorch with CUDA. Results are checked against PyTorch, and the timelines for what Perfetto asks of them; exits
with 1 if something is wrong.
"""

# ruff: noqa: C408 - as kernels are called

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import triton
from probe_kernels import attention, matmul

import triton_ext as tx
from triton_ext import probe

ON_CPU = "--cpu" in sys.argv
#: A processor has no peaks that are known. These only let ``--cpu`` run everything.
SOME_CPU = tx.intensity.Device("some CPU", 20e9, {"vector": 1e11, "f16": 1e11}, "no measurement")
lines: list[str] = []
failures: list[str] = []


def say(text: str = "") -> None:
    """Prints a line, and keeps it for the file."""
    print(text, flush=True)
    lines.append(text)


def check(what: str, *, holds: bool) -> None:
    """Says whether something holds."""
    say(f"{'ok  ' if holds else 'FAIL'}  {what}")
    if not holds:
        failures.append(what)


@dataclass(frozen=True)
class Launch:
    """One launch.

    Attributes:
        label: says kernel and shape.
        kernel: one of probe_kernels.
        grid: the grid of the launch.
        arguments: tensors and numbers.
        constexprs: all but `WHAT` and `EACH_TURN`.
        warps: the warps of a program.
        inner: names of the regions inside of the region ``loop``.
        turns: the turns of the loop.
        wanted: computes the result with PyTorch.
    """

    label: str
    kernel: Any
    grid: tuple[int, ...]
    arguments: dict[str, Any]
    constexprs: dict[str, int]
    warps: int
    inner: tuple[str, ...]
    turns: int
    wanted: Callable[[], torch.Tensor]

    def run(self, what: str, *, each_turn: bool) -> None:
        """Launches the kernel with the probes `what`."""
        given = (*self.arguments.values(), *self.constexprs.values())
        self.kernel[self.grid](*given, what, each_turn, **self.options)

    @property
    def options(self) -> dict[str, int]:
        """Options of the launch."""
        return {} if ON_CPU else {"num_warps": self.warps}

    @property
    def is_right(self) -> bool:
        """Whether the tensor that the kernel has written is what PyTorch computes, but for one percent of its norm."""
        found = next(self.arguments[name] for name in ("c", "o") if name in self.arguments).float()
        wanted = self.wanted().float()
        return bool((found - wanted).norm() < 0.01 * wanted.norm())


def make(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device="cpu" if ON_CPU else "cuda", dtype=torch.float16)


def product(M: int, N: int, K: int) -> Launch:  # noqa: N803
    """Returns a matrix product."""
    a, b, c = make(M, K) / K**0.5, make(K, N), make(M, N)
    tile = dict(BM=64, BN=64, BK=32) if ON_CPU else dict(BM=128, BN=128, BK=64)
    grid = (M // tile["BM"] * (N // tile["BN"]),)
    given = dict(a=a, b=b, c=c, N=N, K=K)
    return Launch(f"matmul {M}x{N}x{K}", matmul, grid, given, tile, 8, ("dot",), K // tile["BK"], lambda: a @ b)


def attended(heads: int, length: int, width: int) -> Launch:
    """Returns attention without a mask."""
    q, k, v, o = (make(heads, length, width) for _ in range(4))
    scale = 1.44269504 / width**0.5  # the kernel takes powers of two
    given = dict(q=q, k=k, v=v, o=o, scale=scale, LENGTH=length)
    tile = dict(D=width, BM=64 if ON_CPU else 128, BN=64)
    wanted = lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]  # noqa: E731
    grid = (length // tile["BM"], heads)
    inner = ("scores", "softmax", "values")
    label = f"attention {heads}x{length}x{width}"
    return Launch(label, attention, grid, given, tile, 8 if width > 64 else 4, inner, length // 64, wanted)


def seconds_of(launch: Launch) -> float:
    """Returns the median time of the launch without probes."""
    if not ON_CPU:
        run = lambda: launch.run("none", each_turn=False)  # noqa: E731
        return float(triton.testing.do_bench(run, warmup=50, rep=300, return_mode="median")) * 1e-3
    times = []
    for _ in range(5):
        start = time.perf_counter()
        launch.run("none", each_turn=False)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def point_of(launch: Launch) -> Any:
    """Prints the roofline of the launch without probes, and returns its point."""
    launch.run("none", each_turn=False)
    check(f"{launch.label}: the result is PyTorch's", holds=launch.is_right)
    seconds = seconds_of(launch)
    constexprs = {**launch.constexprs, "WHAT": "none", "EACH_TURN": False}
    found = tx.intensity(launch.kernel, *launch.arguments.values(), **constexprs, options=launch.options)
    device = SOME_CPU if ON_CPU else torch.cuda.get_device_name()
    line = found.roofline(device, grid=launch.grid)
    point = line.point(launch.label, seconds)
    say(
        f"  {seconds * 1e3:.4f} ms, {point.flops / 1e12:.1f} TFLOP/s at {point.intensity:.0f} FLOP per byte; "
        f"{line.fraction(seconds):.1%} of the roofline, which {line.limit} limits"
    )
    return point


def observe(launch: Launch, out: Path) -> None:
    """Runs the launch with regions, and writes its summary and timeline."""
    name = launch.kernel.fn.__name__
    what = "parts" if name == "attention" else "both"
    launch.run(what, each_turn=False)
    with probe.session(capacity=2**27) as s:
        launch.run(what, each_turn=False)
    check(f"{launch.label}: with regions, the result is PyTorch's", holds=launch.is_right)
    say(s.summary())
    s.timeline(out / f"{name}.json")
    if importlib.util.find_spec("matplotlib") is not None:
        s.plot(out / f"{name}.png")
    check(f"{launch.label}: nothing is lost", holds=not s.lost())
    check_timeline(launch, out / f"{name}.json")


def check_timeline(launch: Launch, path: Path) -> None:
    """Checks the numbers of the events of a timeline, and that those of a track lie beside or inside each other."""
    events = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    programs = launch.grid[0] * (launch.grid[1] if len(launch.grid) > 1 else 1)
    number = lambda name: sum(event["name"] == name for event in events)  # noqa: E731
    check(f"{path.name}: {programs} programs", holds=sum(e["cat"] == "program" for e in events) == programs)
    check(f"{path.name}: a loop in each", holds=number("loop") == programs)
    for name in launch.inner:
        wanted = programs * launch.turns
        check(f"{path.name}: '{name}' in each of {wanted} turns", holds=number(name) == wanted)
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in events:
        tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    check(f"{path.name}: events of a track lie beside or inside each other", holds=all(map(is_nested, tracks.values())))
    places = {event["pid"] for event in events}
    say(f"  {path.name}: {len(events)} events on {len(tracks)} tracks of {len(places)} SMs or threads")


def is_nested(events: list[dict[str, Any]]) -> bool:
    """Returns whether no event begins inside of another one and ends behind it."""
    nanoseconds = lambda microseconds: round(microseconds * 1000)  # noqa: E731
    open_: list[int] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        start, end = nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"])
        while open_ and open_[-1] <= start:
            open_.pop()
        if open_ and end > open_[-1]:
            return False
        open_.append(end)
    return True


def draw(out: Path, points: list[Any]) -> None:
    """Draws the roofline, if matplotlib is installed."""
    if importlib.util.find_spec("matplotlib") is None:
        print(f"no picture, because matplotlib is not installed: run with --plot {out} where it is")
        return
    tx.intensity.plot(out / "roofline.svg", points)


def main() -> None:
    """Runs both kernels."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR")
    parser.add_argument("--plot", type=Path, metavar="DIR")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.plot:
        made = json.loads((options.plot / "points.json").read_text())
        draw(
            options.plot,
            [tx.intensity.Point(**{**one, "device": tx.intensity.Device(**one["device"])}) for one in made],
        )
        return
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    if ON_CPU:
        os.environ["TRITON_DEFAULT_BACKEND"] = "cpu"
        timed = [product(256, 256, 256), attended(2, 256, 64)]
        observed = timed
    else:
        say(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
        timed = [product(4096, 4096, 4096), product(4096, 4096, 512), attended(32, 4096, 64), attended(32, 4096, 128)]
        # Several programs for each multiprocessor, and a file of a few MB.
        observed = [product(4096, 2048, 2048), attended(16, 2048, 64)]
    say("rooflines of the kernels without probes")
    points = [point_of(launch) for launch in timed]
    (out / "points.json").write_text(json.dumps([asdict(point) for point in points], indent=1))
    draw(out, points)
    for launch in observed:
        say(f"\n{launch.label} with regions")
        observe(launch, out)
    (out / "shown.txt").write_text("\n".join(lines) + "\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
