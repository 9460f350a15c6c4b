# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what probes cost, and whether they count right.

Needs PyTorch with CUDA. Prints tables and writes them to probe.txt in the directory that the environment variable OUT
names, beside timeline.json and summary.txt. Names of functions as arguments choose parts. Exits with 1 if a count is
wrong. ``--cpu`` measures the same kernels, smaller, on this machine's processor.

Kernels run in turns, one after the other, many rounds; a row is the median of the rounds' ratios to the kernel without
a probe, with the quartiles.
"""

from __future__ import annotations

import contextlib
import functools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import probe_accuracy
import probe_processes
import torch
import triton
from probe_kernels import add, attention, matmul, offer, repeat, sort

from triton_ext import probe

OUT = Path(os.environ.get("OUT", "."))
ON_CPU = "--cpu" in sys.argv
DEVICE = "cpu" if ON_CPU else "cuda"
ROUNDS = 31 if ON_CPU else 41
OPS = (
    *("count", "count of lanes", "record", "record of lanes", "check", "check of lanes"),
    *("minmax", "stats", "histogram", "region", "region of warps"),
)
failures: list[str] = []
lines: list[str] = []


def say(text: str = "") -> None:
    """Prints a line, and keeps it for the file."""
    print(text, flush=True)
    lines.append(text)


def check(what: str, found: object, wanted: object) -> None:
    """Says whether a result is right."""
    good = found == wanted
    say(f"{'ok  ' if good else 'FAIL'}  {what}: {found}" + ("" if good else f", expected {wanted}"))
    if not good:
        failures.append(what)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Sends what kernels print nowhere."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
        if not ON_CPU:
            torch.cuda.synchronize()
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def milliseconds(launch: Callable[[], None], times: int) -> float:
    """Returns how long one of `times` launches takes."""
    if ON_CPU:  # of all threads, whatever else the machine does
        start = time.process_time()
        for _ in range(times):
            launch()
        return (time.process_time() - start) / times * 1e3
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(2_000_000)  # about a millisecond, in which all launches are queued: no time of the host counts
    start.record()
    for _ in range(times):
        launch()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / times


def empty_buffer(session: probe.Session) -> None:
    """Makes room for records again, so that no launch measures a full buffer."""
    for sink in session._buffers.values():
        sink.memory[probe._layout.CURSOR] = 0
        sink.memory[probe._layout.SHARD_CURSORS : probe._layout.DIRECTORY] = 0


def in_turns(
    launches: dict[str, Callable[[], None]], session: probe.Session | None = None, times: int = 4, rounds: int = ROUNDS
) -> dict[str, list[float]]:
    """Returns the milliseconds of each launch, for each round."""
    measured: dict[str, list[float]] = {name: [] for name in launches}
    with silent():
        for launch in launches.values():  # compiles
            launch()
        for turn in range(rounds):
            names = list(launches)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                if session is not None:
                    empty_buffer(session)
                measured[name].append(milliseconds(launches[name], times))
    return measured


def ratios(measured: dict[str, list[float]], base: str = "none") -> None:
    """Prints the ratio of each row to `base`."""
    for name, values in measured.items():
        each = [100 * (one / without - 1) for one, without in zip(values, measured[base], strict=True)]
        low, middle, high = statistics.quantiles(each, n=4)
        say(f"  {name:<28} {statistics.median(values):9.4f} ms  {middle:+8.2f} %  ({low:+.2f} to {high:+.2f})")


def cases() -> dict[str, Callable[[str, bool], Callable[[], None]]]:
    """Returns for each kernel a function that takes what to observe, and whether in each turn, and makes its launch."""
    n = 2**22 if ON_CPU else 2**25
    x, y, z = (torch.randn(n, device=DEVICE) for _ in range(3))
    size = 512 if ON_CPU else 4096
    half = torch.float16
    a, b, c = (torch.randn((size, size), device=DEVICE, dtype=half) for _ in range(3))
    heads, length, width = (2, 512, 64) if ON_CPU else (32, 4096, 64)
    q, k, v, o = (torch.randn((heads, length, width), device=DEVICE, dtype=half) for _ in range(4))
    tile = (64, 64, 32) if ON_CPU else (128, 128, 64)
    warps = {} if ON_CPU else {"num_warps": 8}

    block = 8192 if ON_CPU else 1024

    def adding(tiles: int) -> Callable[[str, bool], Callable[[], None]]:
        grid = (triton.cdiv(n, block * tiles),)
        return lambda what, each: lambda: add[grid](x, y, z, n, tiles, block, what, each)

    def multiplying(what: str, each: bool) -> Callable[[], None]:
        grid = (size // tile[0] * (size // tile[1]),)
        return lambda: matmul[grid](a, b, c, size, size, *tile, what, each, **warps)

    def attending(what: str, each: bool) -> Callable[[], None]:
        grid = (length // tile[0], heads)
        return lambda: attention[grid](q, k, v, o, 0.18, length, width, tile[0], 64, what, each, **warps)

    return {
        "add, a tile for each program": adding(1),
        "add, 8 tiles for each program": adding(8),
        "matmul": multiplying,
        "attention": attending,
    }


def long_case() -> dict[str, Callable[[str, bool], Callable[[], None]]]:
    """Returns, as `cases` does, a matrix product that is so long that the time of an empty launch does not matter."""
    rows, depth = (256, 1024) if ON_CPU else (4096, 16384)
    a, b = (torch.randn(shape, device=DEVICE, dtype=torch.float16) for shape in ((rows, depth), (depth, rows)))
    c = torch.empty((rows, rows), device=DEVICE, dtype=torch.float16)
    tile = (64, 64, 32) if ON_CPU else (128, 128, 64)
    warps = {} if ON_CPU else {"num_warps": 8}

    def multiplying(what: str, each: bool) -> Callable[[], None]:
        return lambda: matmul[(rows // tile[0]) ** 2,](a, b, c, rows, depth, *tile, what, each, **warps)

    return {f"matmul, K={depth}": multiplying}


def cost_of_one() -> None:
    """(a) nanoseconds of one probe: in one program, and when all multiprocessors run programs."""
    say("(a) nanoseconds of one probe with 1 program, and with many at once (the time divided by the probes of all)")
    turns, n = (2000, 16) if ON_CPU else (2000, 128)
    full = 64 if ON_CPU else 8 * torch.cuda.get_device_properties(0).multi_processor_count
    out = torch.empty(full * n, device=DEVICE)
    for programs in (1, full):
        with probe.session(capacity=2**28) as s:
            launches = {
                what: functools.partial(repeat[(programs,)], out, turns, n, what) for what in ("none", *OPS, "clock")
            }
            measured = in_turns(launches, s, times=1)
        for name in (*OPS, "clock"):
            each = [a - b for a, b in zip(measured[name], measured["none"], strict=True)]
            say(f"  {name:<28} {programs:5} programs {statistics.median(each) * 1e6 / turns / programs:10.3f} ns")


def host_time() -> None:
    """(b) what a launch costs the host."""
    n = 2**14
    x, y, z = (torch.randn(n, device=DEVICE) for _ in range(3))
    say("(b) microseconds of the host for a launch")
    for title, what, inside in (
        ("without a probe", "none", False),
        ("a probe, outside of a session", "count", False),
        ("without a probe, in a session", "none", True),
        ("a probe, in a session", "count", True),
    ):
        with probe.session() if inside else contextlib.nullcontext():
            each = []
            for _ in range(11):
                start = time.perf_counter()
                for _ in range(200):
                    add[(16,)](x, y, z, n, 1, 1024, what, False)
                each.append((time.perf_counter() - start) / 200 * 1e6)
                if not ON_CPU:
                    torch.cuda.synchronize()
            say(f"  {title:<32} {statistics.median(each):8.2f}")


def slowdown() -> None:
    """(b) slowdown of kernels."""
    for title, make in cases().items():
        for each_turn in (False, True):
            say(f"(b) {title}: a probe in each {'turn of the loop' if each_turn else 'program'}")
            off = make("record", each_turn)
            with silent():
                off()
            with probe.session(capacity=2**26 if ON_CPU else 2**30) as s:
                launches = {what: make(what, each_turn) for what in ("none", *OPS)}
                ratios(in_turns(launches, s))
            without = make("none", each_turn)
            ratios(in_turns({"none": without, "record, no session": off}))
            if (
                not ON_CPU and not each_turn and not title.startswith("add")
            ):  # a line for each thread takes minutes there
                ratios(in_turns({"none": without, "device_print": make("device_print", each_turn)}, times=1, rounds=3))


def accuracy() -> None:
    """(b) what regions say, against the time of the kernel without probes."""
    probe_accuracy.accuracy(say, cases() | long_case(), in_turns, on_cpu=ON_CPU)


def times_of_regions() -> None:
    """(b) a region against the time of its launch, and against itself with regions inside."""
    n, turns = 128, 1_000_000
    out = torch.empty(n, device=DEVICE)
    with probe.session() as s:
        one = functools.partial(repeat[(1,)], out, turns, n, "whole")
        one()
        clocked = [milliseconds(one, 1) for _ in range(9)]
    found = np.median((r := s.regions())["end"] - r["start"]) / 1e6
    wanted = statistics.median(clocked)
    say("(b) error of regions: the time of a program's only region against that of its launch")
    say(f"  region {found:.4f} ms, launch {wanted:.4f} ms, {100 * (found / wanted - 1):+.2f} %")
    say("(b) what regions in each turn add to the region around the loop (median of the programs)")
    for title, make in cases().items():
        loop: dict[str, float] = {}
        for what in ("region", "both"):
            times: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(5):
                with probe.session(capacity=2**28) as s:
                    make(what, False)()
                for compensate, found in times.items():
                    r = s.regions("loop", compensate=compensate)
                    found.append(float(np.median(r["end"] - r["start"])))
            for compensate, found in times.items():
                loop[f"{what}, {compensate}"] = statistics.median(found)
        whole, both, without = loop["region, False"], loop["both, False"], loop["both, True"]
        say(
            f"  {title:<32} {whole:12.1f} ns, with regions inside {both:12.1f} ns {100 * (both / whole - 1):+7.2f} %, "
            f"without their cost {without:12.1f} ns {100 * (without / whole - 1):+7.2f} %"
        )


def pictures() -> None:
    """(f) a timeline and a summary of attention with regions."""
    say("(f) attention with regions: timeline.json, summary.txt")
    heads, length, width = (2, 512, 64) if ON_CPU else (8, 4096, 64)
    q, k, v, o = (torch.randn((heads, length, width), device=DEVICE, dtype=torch.float16) for _ in range(4))
    tile = 64 if ON_CPU else 128
    with probe.session(capacity=2**28) as s:
        for _ in range(3):
            attention[(length // tile, heads)](q, k, v, o, 0.18, length, width, tile, 64, "parts", True, num_warps=8)
    s.timeline(OUT / "timeline.json")
    summary = s.summary()
    (OUT / "summary.txt").write_text(summary + "\n")
    say(summary)
    r = s.regions()
    loops, parts = r[np.isin(r["site"], names(s, "loop"))], r[np.isin(r["site"], names(s, "softmax"))]
    programs, lost = 3 * heads * length // tile, s.lost()
    check("loops recorded or lost", len(loops) + lost.get("loop", 0), programs)
    check("softmaxes recorded or lost", len(parts) + lost.get("softmax", 0), programs * length // 64)
    check("regions end before they begin", int((r["end"] < r["start"]).sum()), 0)


def names(session: probe.Session, name: str) -> list[int]:
    """Returns the numbers of the sites of a name."""
    return [i for i, site in enumerate(session.sites()) if site.name == name]


def many_records() -> None:
    """(c) 10^8 records for a small buffer."""
    programs = 1_000 if ON_CPU else 100_000
    say(f"(c) {programs * 1000:,} records offered to a buffer for 1000")
    with probe.session(capacity=32 * 1000) as s:
        offer[(programs,)](1000, 1024)
        records, lost = s.records("lane"), s.lost()["lane"]
    check("records kept and lost", len(records) + lost, programs * 1000)
    check("records kept", len(records), 1000)
    check("their values are their lanes", bool((records["v0"] == records["lane"]).all()), True)
    check("programs counted", s.counts()["programs"], programs)


def graphs_and_streams() -> None:
    """(d) CUDA graphs, and several streams."""
    say("(d) a CUDA graph, captured once and replayed; streams")
    with probe.session() as s:
        offer[(7,)](10, 16)  # compiles
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            offer[(7,)](10, 16)
        check("counted before a replay", s.counts()["programs"], 7)
        for _ in range(25):
            graph.replay()
        check("counted after 25 replays", s.counts()["programs"], 7 * 26)
        check("recorded after 25 replays", len(s.records("lane")), 70 * 26)
    graph.replay()
    torch.cuda.synchronize()
    check("after the session a replay still writes to its buffer", s.counts()["programs"], 7 * 27)
    streams = [torch.cuda.Stream() for _ in range(8)]
    with probe.session() as s:
        for _ in range(20):
            for stream in streams:
                with torch.cuda.stream(stream):
                    offer[(50,)](10, 16)
        check("counted on 8 streams", s.counts()["programs"], 8 * 20 * 50)
        records = s.records("lane")
        check("recorded and lost on 8 streams", len(records) + s.lost().get("lane", 0), 8 * 20 * 500)


def histograms() -> None:
    """(e) histograms are NumPy's."""
    say("(e) histograms of 10^7 numbers, edges among them, against NumPy")
    n = 10**5 if ON_CPU else 10**7
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        edges = np.concatenate([np.linspace(-2.5, 3.7, 1001), np.linspace(-1, 1, 11)])
        near = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9)])
        x = np.concatenate([near, rng.standard_normal(n - len(near))]).astype(dtype)
        x[-5:] = np.nan
        with probe.session() as s:
            sort[(triton.cdiv(n, 1024),)](torch.from_numpy(x).to(DEVICE), n, 1024)
        found = s.histograms()
        for name, bins, limits in (("fine", 1000, (-2.5, 3.7)), ("coarse", 10, (-1, 1))):
            wanted = np.histogram(x[:-5].astype(np.float64), bins, limits)[0]
            check(f"{dtype.__name__}, {bins} bins differ in", int((found[name].counts != wanted).sum()), 0)
        check("NaNs", found["fine"].nan, 5)


def processes() -> None:
    """Checks sessions of several processes."""
    probe_processes.several(say, check, DEVICE)


def main() -> None:
    """Runs all parts."""
    if ON_CPU:
        os.environ["TRITON_DEFAULT_BACKEND"] = "cpu"
        say(f"{torch.get_num_threads()} threads, Triton {triton.__version__}")
    else:
        say(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    parts = [
        many_records,
        histograms,
        processes,
        pictures,
        cost_of_one,
        host_time,
        accuracy,
        times_of_regions,
        slowdown,
    ]
    if not ON_CPU:
        parts.insert(1, graphs_and_streams)
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")]
    for part in parts:
        if not chosen or part.__name__ in chosen:
            part()
        (OUT / "probe.txt").write_text("\n".join(lines) + "\n")
    if failures:
        sys.exit(f"wrong: {', '.join(failures)}")


if __name__ == "__main__":
    main()
