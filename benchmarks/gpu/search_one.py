# SPDX-License-Identifier: Apache-2.0
"""The parts of `search.py` that run in processes of their own: the search for one kernel, and the use of a winner.

``search`` prints what was found, adds it to the file of winners and writes a line of the table to ``DIR/KERNEL.json``.
``use`` decorates a kernel with the pipeline of a winner, launches it, and compares result and time with those of the
kernel in the best declared configuration.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
import triton
from search_kernels import CASES, DEVICE, Case

import triton_ext as tx
from triton_ext.searching import SearchResult

#: Seconds for the end of a search beyond its budget.
END = 25


def main() -> None:
    """Does what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("search", "use"))
    parser.add_argument("kernel")
    parser.add_argument("winners", type=Path)
    parser.add_argument("--seconds", type=float, help="the budget")
    parser.add_argument(
        "--between", type=float, nargs=2, help="instead of the budget: the start and the end of this process"
    )
    parser.add_argument("--workers", type=int)
    parser.add_argument("--directory", type=Path)
    given = parser.parse_args()
    case = next(case for case in CASES if case.kernel.__name__ == given.kernel)
    if given.what == "search":
        seconds = given.seconds
        if seconds is None:  # the worker needs as long to start as this process did, and then runs the kernel
            began, until = given.between  # of time.monotonic()
            now = time.monotonic()
            seconds = max(5.0, until - now - 1.5 * (now - began) - 5 - END)
        search(case, given.winners, given.directory, seconds, given.workers)
    else:
        use(case, given.winners)


def search(case: Case, winners: Path, directory: Path, seconds: float, workers: int | None) -> None:
    """Searches for a better compilation of a kernel."""
    started = time.perf_counter()
    name = case.kernel.__name__
    result = tx.search(
        case.kernel,
        case.grid,
        case.inputs,
        configs=case.configs,
        budget=seconds,
        target="cpu" if DEVICE == "cpu" else None,
        tolerance=case.tolerance,
        storage=directory / f"{name}.db",
        workers=workers,
        progress=False,
    )
    took = time.perf_counter() - started
    result.save(winners)
    line = {
        "kernel": name,
        "title": case.name,
        "device": result.device,
        "seconds": round(took, 1),
        **_figures(result, took),
    }
    (directory / f"{name}.json").write_text(json.dumps(line))
    print(f"Triton {triton.__version__}, PyTorch {torch.__version__}, searched for {took:.0f} s\n{result}")


def _figures(result: SearchResult, seconds: float) -> dict[str, object]:
    statuses = [trial.status for trial in result.history]
    busy = sum(trial.seconds for trial in result.history)
    known = ("ok", "pruned", "wrong result", "known failure", "lost", "running")
    return {
        "gain": result.gain,
        "declared_ms": result.finding.plain_milliseconds,
        "found_ms": result.finding.milliseconds,
        "declared": result.finding.plain_launch,
        "pipeline": result.finding.edits,
        "launch": result.finding.launch,
        "trials": len(statuses),
        "per_minute": round(60 * len(statuses) / seconds, 1),
        "on_device": round(busy / seconds, 3),
        "wrong": statuses.count("wrong result"),
        "pruned": statuses.count("pruned"),
        "failed": sum(status not in known for status in statuses),
    }


def use(case: Case, winners: Path) -> None:
    """Uses a winner as a program does that has the file."""
    found = tx.found(winners, case.kernel)
    fast = tx.use(found.pipeline)(case.kernel)
    arguments = next(iter(case.inputs()))
    results, times = {}, {}
    for who, kernel, launch in (("declared", case.kernel, found.plain_launch), ("found", fast, found.launch)):
        kernel[case.grid](**arguments, **launch)
        results[who] = {name: value.clone() for name, value in arguments.items() if isinstance(value, torch.Tensor)}
    for who, kernel, launch in (("declared", case.kernel, found.plain_launch), ("found", fast, found.launch)) * 3:
        bench = triton.runtime.driver.active.get_benchmarker()
        once = lambda kernel=kernel, launch=launch: kernel[case.grid](**arguments, **launch)  # noqa: E731
        times.setdefault(who, []).append(float(bench(once, warmup=10, rep=60, quantiles=(0.5, 0.2, 0.8))[0]))
    for name, value in results["found"].items():
        torch.testing.assert_close(value, results["declared"][name], rtol=case.tolerance[0], atol=case.tolerance[1])
    declared, own = (sorted(times[who])[1] for who in ("declared", "found"))
    print(f"@tx.use({str(found.pipeline)!r}) on {found.kernel} with {found.launch}: the results are right,")
    print(
        f"{own:.4f} ms, with the declared configuration {found.plain_launch} {declared:.4f} ms: {declared / own:.3f}x"
    )


if __name__ == "__main__":
    main()
