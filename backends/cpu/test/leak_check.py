# SPDX-License-Identifier: Apache-2.0
"""Compiles and launches kernels in one process, and reports by how much the process has grown.

``python leak_check.py --compiles 10000 --launches 10000`` is the long run; test_leaks.py does a short one.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["TRITON_DEFAULT_BACKEND"] = "cpu"
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import triton
import triton.language as tl

# Python allocates small objects in arenas of 1 MiB, and each arena is a mapping. Whether Python needs another arena
# during the measurement depends on the rest of the process, even on the length of its environment. The C library's heap
# does not grow in such steps.
HEAP = {"PYTHONMALLOC": "malloc", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}


@triton.jit
def scaled_row(x, out, n, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0) * K
    tl.store(out + i, tl.exp(v - tl.max(v, 0)), mask=i < n)


def usage() -> dict[str, int]:
    """Returns the resources in which a leak would show: memory, descriptors, mappings, threads, libraries on disk."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # freed memory that malloc keeps is not a leak
    libraries = list(Path(tempfile.gettempdir()).glob("triton-ext-cpu-*/*.so"))
    return {
        "bytes": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings": Path("/proc/self/maps").read_text().count("\n"),
        "threads": len(os.listdir("/proc/self/task")),
        "libraries": len(libraries),
    }


def grown(compiles: int, launches: int, warmup: int) -> dict[str, dict[str, float]]:
    """Returns the growth of each resource while `compiles` kernels come and go, and during `launches` launches."""
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)

    def compile_some(first: int, count: int) -> None:
        for k in range(first, first + count):
            scaled_row[(1,)](x, out, 64, K=k, BLOCK=64, num_threads=2)
            if k % 20 == 19:  # as when a program drops its kernels
                scaled_row.device_caches.clear()
            if k % 1000 == 999:
                print(k + 1, usage(), file=sys.stderr, flush=True)
        scaled_row.device_caches.clear()

    def launch(count: int) -> None:
        for _ in range(count):
            scaled_row[(4,)](x, out, 64, K=1, BLOCK=64, num_threads=2)

    found = {}
    compile_some(10**6, warmup)
    launch(1000)
    for name, work in (("compiles", lambda: compile_some(0, compiles)), ("launches", lambda: launch(launches))):
        before, start = usage(), time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        if name == "compiles":
            launch(1)  # so that one kernel is loaded, as before
        found[name] = {key: value - before[key] for key, value in usage().items()} | {"seconds": round(seconds, 2)}
    return found


if __name__ == "__main__":
    if not HEAP.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | HEAP)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiles", type=int, default=10_000)
    parser.add_argument("--launches", type=int, default=10_000)
    parser.add_argument("--warmup", type=int, default=100, help="kernels to compile before anything is measured")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        os.environ["TMPDIR"] = tempfile.tempdir = own
        os.environ["TRITON_CACHE_DIR"] = os.path.join(own, "cache")
        print(json.dumps(grown(arguments.compiles, arguments.launches, arguments.warmup)))
