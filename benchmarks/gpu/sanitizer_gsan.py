# SPDX-License-Identifier: Apache-2.0
"""Runs each kernel of a corpus under a tool that ends the process at its first finding, as Triton's gsan does.

Several kernels share a process, because a process takes seconds to begin. Where one ends, hangs or crashes, the next
process goes on behind it, so that each kernel has an answer of its own. sanitizer_corpus.py uses it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: What the tool prints where it has found something.
FOUND = "race detected"
#: Seconds for one kernel, and more for the first one of a process, which imports PyTorch and Triton.
EACH, FIRST = 20.0, 60.0


def _answers(text: str) -> list[tuple[str, str]]:
    """Returns what a process said: ``ran`` or ``ended``, and of which kernel."""
    lines = (line.split("\t") for line in text.splitlines() if line.startswith(("ran\t", "ended\t")))
    return [(parts[0], parts[1]) for parts in lines if len(parts) > 1]


def _run(command: Sequence[str], log: Path, deadline: float) -> bool:
    """Runs a process until it ends, or is ended because no kernel has run for too long; returns whether it was late."""
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
    seen, limit = 0, time.monotonic() + FIRST
    while process.poll() is None:
        now = time.monotonic()
        answers = len(_answers(log.read_text(errors="replace")))
        if answers > seen:
            seen, limit = answers, now + EACH
        if now > min(limit, deadline):
            process.kill()
            process.wait()
            return True
        time.sleep(0.05)
    return False


def run_each(
    command: Callable[[list[str]], Sequence[str]], names: Sequence[str], stem: Path, deadline: float
) -> dict[str, str]:
    """Returns for each kernel ``found``, ``missed``, ``late``, or ``did not run``.

    Args:
        command: makes the command for kernels. It prints a line ``ran`` or ``ended`` with the name of each one, and
            ends behind the first ``ended``.
        names: of the kernels.
        stem: of the files with what the processes print.
        deadline: when the last process ends, as `time.monotonic` counts.
    """
    said: dict[str, str] = {}
    left = list(names)
    while left and time.monotonic() < deadline:
        log = stem.with_name(f"{stem.name}-{left[0]}.log")
        is_late = _run(command(left), log, deadline)
        text = log.read_text(errors="replace")
        answers = _answers(text)
        for kind, name in answers:
            said[name] = "missed" if kind == "ran" else "found" if FOUND in text else "did not run"
        left = [name for name in left if name not in said]
        if left and not (answers and answers[-1][0] == "ended"):  # the next one has hung, or ended the process
            is_over = time.monotonic() >= deadline
            said[left[0]] = (
                "found" if FOUND in text else "did not run" if is_over else "late" if is_late else "did not run"
            )
            left = left[1:]
    return said | dict.fromkeys(left, "did not run")


def run_all(
    commands: dict[str, Callable[[list[str]], Sequence[str]]],
    names: Sequence[str],
    out: Path,
    *,
    processes: int,
    seconds: float,
) -> dict[str, dict[str, str]]:
    """Returns by the name of a command what `run_each` does; several processes run at the same time."""
    deadline = time.monotonic() + seconds
    share = max(1, processes // len(commands))
    jobs = [(what, names[i::share]) for what in commands for i in range(share)]
    said: dict[str, dict[str, str]] = {what: {} for what in commands}
    with ThreadPoolExecutor(processes) as pool:
        futures = [
            (what, pool.submit(run_each, commands[what], chunk, out / f"gsan-{what}", deadline)) for what, chunk in jobs
        ]
        for what, future in futures:
            said[what] |= future.result()
    return said
