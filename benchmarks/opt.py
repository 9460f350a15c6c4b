# SPDX-License-Identifier: Apache-2.0
"""How fast triton-ext-opt and the discovery of extensions are: ``make bench``.

Start-up is a whole process on a small module. Discovery is the first ``tx.extensions()`` of a process, with what is
built here and with 200 libraries more, once with an empty cache and then with the index that this left. The lit tests
are plain RUN lines, each a driver and a FileCheck. On the large module, the driver's canonicalizer is held against
Triton's own pass manager, called from Python in a process that has it loaded already, and the whole run against
parsing, running and printing there.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from triton_ext.support.resources import library_dir

OPT = Path(sys.executable).with_name("triton-ext-opt")
LIT_TESTS, OPERATIONS = 200, 10_000

SMALL = """\
// RUN: triton-ext-opt %s -canonicalize -cse | FileCheck %s
// CHECK: tt.func @f{n}
// CHECK: %[[P:.*]] = tt.get_program_id x
// CHECK: tt.return %[[P]], %[[P]]
tt.func @f{n}() -> (i32, i32) {{
  %0 = tt.get_program_id x : i32
  %1 = tt.get_program_id x : i32
  tt.return %0, %1 : i32, i32
}}
"""
LIT_CONFIG = """\
import sys
from pathlib import Path
import lit.formats
from triton_ext.loading.host import triton_root
config.name = "benchmark"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.environment["PATH"] = f"{Path(sys.executable).parent}:{triton_root()}:/usr/bin:/bin"
"""
HEAD = """\
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
tt.func public @large(%p: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant dense<0> : tensor<1024xi32, #blocked>
"""
# Ten operations; the canonicalizer folds the additions of zero and merges the constants.
BODY = """\
  %range{i} = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32, #blocked>
  %c{i} = arith.constant {i} : i32
  %splat{i} = tt.splat %c{i} : i32 -> tensor<1024xi32, #blocked>
  %sum{i} = arith.addi %range{i}, %splat{i} : tensor<1024xi32, #blocked>
  %same{i} = arith.addi %sum{i}, %zero : tensor<1024xi32, #blocked>
  %base{i} = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
  %at{i} = tt.addptr %base{i}, %same{i} : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
  %x{i} = tt.load %at{i} : tensor<1024x!tt.ptr<f32>, #blocked>
  %y{i} = arith.mulf %x{i}, %x{i} : tensor<1024xf32, #blocked>
  tt.store %at{i}, %y{i} : tensor<1024x!tt.ptr<f32>, #blocked>
"""
IN_PYTHON = """\
import json, sys, time
from triton._C.libtriton import ir, passes

def once():
    context = ir.context()
    ir.load_dialects(context)
    begin = time.perf_counter()
    module = ir.parse_mlir_module(sys.argv[1], context)
    manager = ir.pass_manager(context)
    passes.common.add_canonicalizer(manager)
    parsed = time.perf_counter()
    manager.run(module, "benchmark")
    ran = time.perf_counter()
    str(module.str_nodebug())
    return ran - parsed, time.perf_counter() - begin

once()
print(json.dumps([once() for _ in range(5)]))
"""


def seconds(*command: str | Path) -> float:
    """Returns the wall-clock time of a command, which must succeed."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def median(measure: Callable[[], float], times: int) -> float:
    return statistics.median(measure() for _ in range(times))


def canonicalize_seconds(module: Path) -> float:
    """Returns the time of the pass by the driver's own timer."""
    command = [OPT, module, "-canonicalize", "-mlir-timing", "-mlir-output-format=json", "-o", "/dev/null"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    timers = [line for line in report.splitlines() if '"CanonicalizerPass"' in line]
    return float(timers[0].split('"duration": ')[1].split(",")[0].strip(" }"))


DISCOVERY = """\
import time
import triton_ext as tx
begin = time.perf_counter()
found = tx.extensions()
print(time.perf_counter() - begin, len(found))
"""


def discovery(cache: Path, libraries: Path | None = None) -> tuple[float, int]:
    """Returns the seconds of the first ``tx.extensions()`` of a process, and the number of extensions that it finds."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TRITON_EXT_PATH": str(libraries or "")}
    command = [sys.executable, "-c", DISCOVERY]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    taken, count = done.split()
    return float(taken), int(count)


def make_libraries(directory: Path, count: int) -> Path:
    """Makes `count` copies of the extension `rename` under different names."""
    directory.mkdir()
    content = (library_dir() / "libtriton_ext_rename.so").read_bytes()
    for n in range(count):
        copy = content.replace(b'"name": "rename"', b'"name": "ren%03d"' % n)
        (directory / f"libtriton_ext_ren{n:03}.so").write_bytes(copy)
    time.sleep(3)  # the index does not trust files that have just been written
    return directory


def discovery_rows(scratch: Path) -> list[tuple[str, str, str]]:
    """Measures the first call of a process, by the number of extensions and with or without the index."""
    rows = []
    for name, libraries, aim in (
        ("what is built", None, "< 50 ms"),
        ("200 libraries more", make_libraries(scratch / "many", 200), "< 60 ms"),
    ):
        cache = scratch / f"cache of {name}"
        first, count = discovery(cache, libraries)
        later = median(lambda cache=cache, libraries=libraries: discovery(cache, libraries)[0], 15)
        rows.append((f"tx.extensions(), {name} ({count} in all)", f"{later * 1e3:.0f} ms", aim))
        rows.append(("  with an empty cache", f"{first * 1e3:.0f} ms", ""))
    return rows


def rows(scratch: Path) -> list[tuple[str, str, str]]:
    small = scratch / "small.mlir"
    small.write_text(SMALL.format(n=0))
    start = median(lambda: seconds(OPT, small, "-canonicalize"), 15)
    extension = median(lambda: seconds(OPT, small, "-rename=new=other"), 15)
    linalg = median(lambda: seconds(OPT.with_name("triton-linalg-opt"), "-h"), 15)
    listing = median(lambda: seconds(OPT.with_name("triton-ext"), "list"), 15)

    tests = scratch / "tests"
    tests.mkdir()
    (tests / "lit.cfg.py").write_text(LIT_CONFIG)
    for n in range(LIT_TESTS):
        (tests / f"test_{n}.mlir").write_text(SMALL.format(n=n))
    lit = median(lambda: seconds(Path(sys.executable).with_name("lit"), "-q", "-j2", tests), 3)

    large = scratch / "large.ttgir"
    large.write_text(HEAD + "".join(BODY.format(i=i) for i in range(OPERATIONS // 10)) + "  tt.return\n}\n}\n")
    whole = median(lambda: seconds(OPT, large, "-canonicalize", "-o", "/dev/null"), 5) - start
    own = median(lambda: canonicalize_seconds(large), 5)
    measured = subprocess.run(
        [sys.executable, "-c", IN_PYTHON, large], check=True, capture_output=True, text=True
    ).stdout
    pass_in_python, whole_in_python = (statistics.median(column) for column in zip(*json.loads(measured), strict=True))
    return [
        ("start to finish, small module, built-in pass", f"{start:.3f} s", "< 0.3 s"),
        ("start to finish, small module, pass of an extension", f"{extension:.3f} s", "< 0.3 s"),
        ("triton-linalg-opt -h", f"{linalg:.3f} s", "< 0.5 s"),
        ("triton-ext list", f"{listing:.3f} s", ""),
        *discovery_rows(scratch),
        (f"{LIT_TESTS} lit tests on two cores", f"{lit:.1f} s", "< 60 s"),
        (f"canonicalize, {OPERATIONS:,} operations: the pass", f"{own * 1e3:.1f} ms", ""),
        ("  the same pass by Triton's pass manager in Python", f"{pass_in_python * 1e3:.1f} ms", ""),
        ("  ratio", f"{own / pass_in_python:.2f}", "<= 1.2"),
        (f"canonicalize, {OPERATIONS:,} operations: the whole run, less start-up", f"{whole * 1e3:.1f} ms", ""),
        ("  parse, run and print by Triton in Python", f"{whole_in_python * 1e3:.1f} ms", ""),
        ("  ratio", f"{whole / whole_in_python:.2f}", "<= 1.2"),
    ]


def main() -> None:
    table = Table("triton-ext-opt", "median", "aim", box=None)
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(Path(scratch)):
            table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
