# SPDX-License-Identifier: Apache-2.0
"""Attacks on tuning: candidates that end or stop their workers, and caches that are damaged or take nothing.

Each runs in a process of its own, ``python -m support.attacks.tuning NAME SEED SCALE``, with the stand-in for a device
of ``support.tuning``.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import multiprocessing
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import triton
from triton.runtime.cache import FileCacheManager
from triton.runtime.driver import driver

import triton_ext as tx
from support.attacks.attack import Attack, Outcome, run_in_process
from support.tuning import standin, tuned
from support.tuning.standin import Bench
from triton_ext.tuning import TuningError, limits

#: The harm that a candidate does to its worker, by the beginning of its kernel's name.
ENDS: dict[str, Callable[[], object]] = {
    "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "abort": os.abort,
    "leave": lambda: os._exit(0),
    "hang": lambda: time.sleep(3600),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}


def compute(arguments: dict[str, Any], factor: int) -> None:
    """Computes what `tuned.scale` does, or harms the worker as the kernel's name says."""
    kind = standin.launches[-1][0].partition("_")[0]
    if kind in ENDS:
        ENDS[kind]()
    standin.scale(arguments, factor)


@tx.autotune(
    tuned.CONFIGS[:1],
    ["n"],
    pipelines={"plain": tx.Pipeline()},
    do_bench=Bench(),
    arguments=tuned.make_arguments,
    rounds=1,
    run_timeout=1.0,
)
@triton.jit
def victim(x, y, n, BLOCK: triton.language.constexpr):
    """y = 2 * x."""
    i = triton.language.program_id(0) * BLOCK + triton.language.arange(0, BLOCK)
    triton.language.store(y + i, 2 * triton.language.load(x + i, mask=i < n), mask=i < n)


standin.COMPUTE["victim"] = compute


def workers(chance: random.Random, scale: int) -> Outcome:
    """Some candidates end their worker, or never end; got through: an innocent candidate fails, or a guilty one does
    not."""
    limits.GRACE = 1.0
    through: list[str] = []
    tried = 0
    for _ in range(scale):
        names = [f"fine_{k}" for k in range(4)]
        # Only the tuner's process can end a stopped worker, and it waits for long before it does.
        names += [f"{chance.choice(['segv', 'kill', 'abort', 'leave', 'hang'])}_{k}" for k in range(2)]
        chance.shuffle(names)
        victim.pipelines = {name: tuned.renamed(name, "victim") for name in names}
        victim.cache.clear()
        with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
            victim.executor = pool
            victim[(1,)](tuned.ones(), standin.zeros(), n=32)
        for row in victim.tuning_report.rows:
            tried += 1
            is_guilty = row.pipeline.partition("_")[0] in ENDS
            if (row.status in ("worker error", "time limit")) != is_guilty:
                through.append(f"{row.pipeline}: {row.status}")
    return Outcome(tried, len(through), ", ".join(through[:3]))


def stopped_workers(chance: random.Random, scale: int) -> Outcome:
    """Workers neither answer nor end; got through: the tuning hangs, or an innocent candidate fails."""
    limits.GRACE, limits.STARTUP = 1.0, 5.0
    victim.compile_timeout = 5.0
    victim.pipelines = {name: tuned.renamed(name, "victim") for name in ("fine_0", "stop_0", "fine_1")}
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        victim.executor = pool
        victim[(1,)](tuned.ones(), standin.zeros(), n=32)
    found = {row.pipeline: row.status for row in victim.tuning_report.rows}
    is_right = found == {"fine_0": "ok", "stop_0": "time limit", "fine_1": "ok"}
    return Outcome(1, int(not is_right), "" if is_right else str(found))


class Failing(FileCacheManager):
    """A cache manager that cannot store results."""

    error: Exception = OSError()

    def put(self, data: Any, filename: str, binary: bool = True) -> Any:
        if filename.endswith(".tuning.json"):
            raise self.error
        return super().put(data, filename, binary)


def tune() -> Any:
    kernel = tx.autotune(
        tuned.CONFIGS, ["n"], pipelines=tuned.PIPELINES, do_bench=Bench(tuned.TIMES), cache_results=True, rounds=1
    )(tuned.scale)
    kernel[(1,)](tuned.ones(), standin.zeros(), n=32)
    return kernel


def full_disks(chance: random.Random, scale: int) -> Outcome:
    """Caches cannot store anything; got through: the tuning is lost."""
    triton.knobs.cache.manager_class = Failing
    errors: list[Exception] = [OSError(code, os.strerror(code)) for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)]
    errors += [OSError(errno.EFBIG, "too big"), RuntimeError("no"), KeyError("no"), ConnectionError(), ValueError("no")]
    lost = 0
    for _ in range(4 * scale):
        Failing.error = chance.choice(errors)
        try:
            lost += tune().best_config.pipeline != "fast"
        except Exception:
            lost += 1
    return Outcome(4 * scale, lost)


def damaged_results(chance: random.Random, scale: int) -> Outcome:
    """Results on disk have bytes changed, cut or added; got through: another best candidate, or an error."""
    tune()
    (path,) = Path(os.environ["TRITON_CACHE_DIR"]).rglob("*.tuning.json")
    good = path.read_bytes()
    through: list[str] = []
    for _ in range(20 * scale):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            change = chance.choice(["flip", "cut", "insert", "nest"])
            if change == "flip":
                data[at] ^= 1 << chance.randrange(8)
            elif change == "cut":
                del data[at : at + chance.choice([1, 10, 1000])]
            elif change == "insert":
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.choice([1, 10, 100])))
            else:
                data[at:at] = b"[" * 100_000
            data = data or bytearray(b"x")
        path.write_bytes(data)
        try:
            if tune().best_config.pipeline != "fast":
                through.append("another best")
        except (Exception, TuningError) as error:
            through.append(repr(error)[:200])
    return Outcome(20 * scale, len(through), ", ".join(through[:3]))


_RUNS: dict[str, Callable[[random.Random, int], Outcome]] = {
    "candidates that end their worker": workers,
    "workers that are stopped": stopped_workers,
    "caches that take no results": full_disks,
    "damaged results": damaged_results,
}


def _in_process(name: str) -> Attack:
    def run(chance: random.Random, scale: int) -> Outcome:
        command = ["-m", "support.attacks.tuning", name, str(chance.randrange(1 << 30)), str(scale)]
        return run_in_process(command, 180 + 90 * scale)

    return Attack(name, run)


ATTACKS: list[Attack] = [_in_process(name) for name in _RUNS]


if __name__ == "__main__":
    from support.attacks import tuning  # noqa: PLW0406 (a worker looks for the kernel in there)

    driver.set_active(standin.Driver())
    warnings.simplefilter("ignore")
    found = tuning._RUNS[sys.argv[1]](random.Random(int(sys.argv[2])), int(sys.argv[3]))
    print(json.dumps(dataclasses.asdict(found)))
