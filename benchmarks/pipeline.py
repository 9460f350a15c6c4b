# SPDX-License-Identifier: Apache-2.0
"""What pipelines cost: launches, compilations, `describe`; part of ``make bench``.

No GPU is needed. A launch is all that Triton does on the host, up to a launcher that does nothing: the driver is a
stand-in. A compilation goes to the binary, past the cache. Times are those of the processor, where that is not said
otherwise; everything in a table is measured in turns in one process, and differences and ratios are medians over the
turns.
"""

from __future__ import annotations

import gc
import hashlib
import os
import platform
import statistics
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 does this if it is unset, after a warning

import triton
import triton.language as tl
from rich.console import Console
from rich.table import Table
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.runtime import driver
from triton.runtime.jit import MockTensor

import triton_ext as tx
from triton_ext.patches.backend_globals import replace_globals
from triton_ext.patches.driver_choice import choose_driver_again

SLOT = "add_stages_inspection_hook"
LAUNCHES, TURNS = 500, 101
CUDA90, GFX942 = GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)


#: A driver that does everything except the launch itself.
STAND_IN = types.SimpleNamespace(
    get_current_target=lambda: CUDA90,
    get_current_device=lambda: 0,
    get_current_stream=lambda device: device,
    launcher_cls=lambda *_: lambda *_: None,
    utils=types.SimpleNamespace(
        get_device_properties=lambda _: {"max_shared_mem": 2**18}, load_binary=lambda *_: (None, 0, 0, 0, 1024)
    ),
)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # noqa: N803
    """Adds vectors, as in Triton's first tutorial."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):  # noqa: N803
    """One tile of C = relu(A @ B), without masks."""
    i = tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + (k + i)[None, :])
        right = tl.load(b + (k + i)[:, None] * BLOCK + i[None, :])
        accumulator = tl.dot(left, right, accumulator)
    tl.store(c + i[:, None] * BLOCK + i[None, :], tl.maximum(accumulator, 0.0))


@triton.jit
def large(x, y, n, BLOCK: tl.constexpr):  # noqa: N803
    """Repeats one computation forty times, unrolled by hand."""
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in tl.static_range(40):
        row = tl.load(x + k * n + i, mask=i < n - k, other=float("-inf"))
        e = tl.exp(row - tl.max(row, 0))
        total += e / tl.sum(e, 0)
    tl.store(y + i, total, mask=i < n)


# ---------------------------------------------------------------------------
# Launches
# ---------------------------------------------------------------------------


# As in Triton's documentation of its plugins, where the file is the program itself.
def get_key() -> str:
    return Path(__file__).read_text()


def get_hash() -> str:
    return hashlib.sha256(get_key().encode("utf-8")).hexdigest()


def documented_hook(self=None, stages=None, options=None, language=None, capability=None):  # type: ignore[no-untyped-def]
    if all(arg is None for arg in (stages, options, language, capability)):
        return get_key(), get_hash()

    def wrapper(source, metadata):  # type: ignore[no-untyped-def]
        return self.make_ttir(source, metadata, options, capability)

    stages["ttir"] = wrapper
    return get_key(), get_hash()


@contextmanager
def hook(function: Callable[..., tuple[str, str]]) -> Iterator[None]:
    knobs.runtime.add_stages_inspection_hook = function
    yield
    knobs.runtime.add_stages_inspection_hook = None


@contextmanager
def untouched() -> Iterator[None]:
    """Makes Triton what it is before the first pipeline."""
    owner = type(knobs.runtime)
    ours = vars(owner)[SLOT]
    setattr(owner, SLOT, None)
    yield
    setattr(owner, SLOT, ours)


@contextmanager
def installed(pipeline: tx.Pipeline) -> Iterator[None]:
    pipeline.install()
    yield
    pipeline.uninstall()


def launch_seconds(kernel: Any, scope: Callable[[], Any], entered: tx.Pipeline | None = None) -> float:
    """Returns one launch inside `scope`, and inside its own ``with entered`` if that is given."""
    tensors = [MockTensor(tl.float32) for _ in range(3)]
    grid = (4,)
    with scope():
        kernel[grid](*tensors, 1000, BLOCK=256)
        begin = time.thread_time()
        if entered is None:
            for _ in range(LAUNCHES):
                kernel[grid](*tensors, 1000, BLOCK=256)
        else:
            for _ in range(LAUNCHES):
                with entered:
                    kernel[grid](*tensors, 1000, BLOCK=256)
        return (time.thread_time() - begin) / LAUNCHES


def launches() -> Table:
    driver.set_active(STAND_IN)
    pipeline = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="add", new="sum"))
    python = pipeline.at_end("ttir", lambda _: None)
    used = tx.use(pipeline)(add)
    none, constant = ExitStack, ("a constant", "a constant")
    with pipeline:
        pass  # measurements without triton-ext have Triton as it was before this
    cases: dict[str, tuple[Callable[[], float], str]] = {
        "without triton-ext": (lambda: launch_seconds(add, untouched), ""),
        "no pipeline": (lambda: launch_seconds(add, none), ""),
        "pipeline.install()": (lambda: launch_seconds(add, lambda: installed(pipeline)), "< +1 us"),
        "  with a Python function in it": (lambda: launch_seconds(add, lambda: installed(python)), ""),
        "inside of `with pipeline:`": (lambda: launch_seconds(add, lambda: pipeline), ""),
        "`with pipeline:` around each launch": (lambda: launch_seconds(add, none, pipeline), ""),
        "@tx.use(pipeline)": (lambda: launch_seconds(used, none), ""),
        "a hook that returns a constant": (lambda: launch_seconds(add, lambda: hook(lambda *_: constant)), ""),
        "the hook of Triton's documentation": (lambda: launch_seconds(add, lambda: hook(documented_hook)), ""),
    }
    times = in_turns({name: measure for name, (measure, _) in cases.items()}, TURNS)
    base = times["without triton-ext"]
    table = Table("launch of a kernel that is in memory, host side", "us", "more", "aim", box=None)
    for name, (_, aim) in cases.items():
        more = statistics.median(ours - theirs for ours, theirs in zip(times[name], base, strict=True))
        table.add_row(name, f"{statistics.median(times[name]) * 1e6:.2f}", f"{more * 1e6:+.2f}", aim)
    choose_driver_again()
    return table


def in_turns(cases: dict[str, Callable[[], float]], turns: int) -> dict[str, list[float]]:
    """Measures each case in each turn, every turn in another order."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    names = list(cases)
    for measure in cases.values():
        measure()
    gc.disable()
    for turn in range(turns):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            times[name].append(cases[name]())
        gc.collect()
    gc.enable()
    return times


# ---------------------------------------------------------------------------
# Compilations
# ---------------------------------------------------------------------------


def matmul_source() -> ASTSource:
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32", "BLOCK": "constexpr"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    return ASTSource(matmul, signature, {"BLOCK": 64}, aligned)


def large_source() -> ASTSource:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    return ASTSource(large, signature, {"BLOCK": 1024}, {(i,): [["tt.divisibility", 16]] for i in range(2)})


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    begin = clock()
    work()
    return clock() - begin


@contextmanager
def without_proxies(target: GPUTarget) -> Iterator[None]:
    """Makes the backend what it is before the first compilation in a pipeline."""
    module: Any = __import__(type(make_backend(target)).__module__, fromlist=["*"])
    ours = {name: value for name, value in vars(module).items() if name in ORIGINAL[target.backend]}
    vars(module).update(ORIGINAL[target.backend])
    yield
    vars(module).update(ours)


#: The objects that the proxies replace, by backend.
ORIGINAL: dict[str, dict[str, Any]] = {}


def proxies(target: GPUTarget) -> Iterator[tuple[str, str, str, str]]:
    """Yields rows about the time of this process in a compilation, without the assembler, a separate process."""
    backend = make_backend(target)
    module: Any = __import__(type(backend).__module__, fromlist=["*"])
    before = dict(vars(module))
    replace_globals(backend)
    ORIGINAL[target.backend] = {name: before[name] for name in before if before[name] is not vars(module)[name]}
    source = matmul_source()

    def compiled(scope: Callable[[], Any]) -> Callable[[], float]:
        def measure() -> float:
            with scope():
                return seconds(lambda: triton.compile(source, target=target), time.process_time)

        return measure

    missing = tx.Pipeline().skip("no_such_pass", on_missing="ignore")
    cases = {
        "without triton-ext": compiled(lambda: without_proxies(target)),
        "with its proxies, no pipeline": compiled(ExitStack),
        "inside of an empty pipeline": compiled(tx.Pipeline),
        "inside of one that looks at every pass": compiled(lambda: missing),
    }
    aims = {"with its proxies, no pipeline": "< +1 %", "inside of an empty pipeline": "< +1 %"}
    times = in_turns(cases, 15)
    base = times["without triton-ext"]
    for name in cases:
        more = statistics.median(ours / theirs for ours, theirs in zip(times[name], base, strict=True)) - 1
        what = f"{name}, matmul, {target.backend}:{target.arch}"
        yield what, f"{statistics.median(times[name]) * 1e3:.1f}", f"{more * 100:+.1f} %", aims.get(name, "")


def descriptions() -> Iterator[tuple[str, str, str, str]]:
    """Returns rows about `describe`, compared with a compilation in wall time."""
    for label, source, target, turns in (
        ("matmul", matmul_source(), CUDA90, 9),
        ("matmul", matmul_source(), GFX942, 9),
        ("large kernel", large_source(), CUDA90, 3),
    ):
        work = {
            "compile": lambda source=source, target=target: triton.compile(source, target=target),
            "describe": lambda source=source, target=target: tx.describe(source, target=target),
        }
        record = tx.describe(source, target=target)
        most = max(p.ops_after for stage in record.stages for p in stage.passes)
        cases = {name: lambda function=function: seconds(function) for name, function in work.items()}
        times = in_turns(cases, turns)
        ratio = statistics.median(d / c for c, d in zip(times["compile"], times["describe"], strict=True))
        where = f"{label} ({most:,} operations), {target.backend}:{target.arch}"
        yield f"compile, {where}", f"{statistics.median(times['compile']) * 1e3:.0f}", "", ""
        yield f"describe, {where}", f"{statistics.median(times['describe']) * 1e3:.0f}", f"x {ratio:.2f}", "< x 2"


def main() -> None:
    """Prints the tables."""
    console = Console(width=110)
    console.print(f"Python {platform.python_version()}, Triton {triton.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        console.print(launches())
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        table = Table("compilation", "ms", "", "aim", box=None)
        for rows in (proxies(CUDA90), proxies(GFX942), descriptions()):
            for row in rows:
                table.add_row(*row)
        console.print(table)


if __name__ == "__main__":
    main()
