# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what a search finds for six kernels, against the best of the configurations that their authors declare.

Needs PyTorch with CUDA and Optuna. ``--seconds`` is the budget of each kernel, ``--only`` chooses kernels by a part of
their name, and ``--out`` is a directory for the histories and a page. Exits with 1 if a winner is slower than the best
declared configuration.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path

import torch
import triton
from rich.console import Console
from rich.table import Table
from search_kernels import CASES, Case

import triton_ext as tx
from triton_ext.searching import SearchResult
from triton_ext.searching.page import page_of
from triton_ext.searching.reporting import ir_difference


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=Path())
    given = parser.parse_args()
    table = Table("kernel", "gain", "declared ms", "found ms", "trials", "per minute", "on the GPU", "wrong", "failed")
    slower = False
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}", flush=True)
    for case in CASES:
        if given.only not in case.name:
            continue
        started = time.perf_counter()
        result = tx.search(
            case.kernel,
            case.grid,
            case.inputs,
            configs=case.configs,
            budget=given.seconds,
            tolerance=case.tolerance,
            progress=False,
        )
        seconds = time.perf_counter() - started
        table.add_row(*_row(case, result, seconds))
        slower |= result.gain < 1
        print(f"\n== {case.name}, {seconds:.0f} s\n{result}", flush=True)
        _keep(given.out, case, result)
    Console(width=140).print(table)
    sys.exit(slower)


def _row(case: Case, result: SearchResult, seconds: float) -> tuple[str, ...]:
    statuses = [trial.status for trial in result.history]
    busy = sum(trial.seconds for trial in result.history)
    return (
        case.name,
        f"{result.gain:.3f}x",
        f"{result.finding.plain_milliseconds or 0:.4f}",
        f"{result.finding.milliseconds or 0:.4f}",
        str(len(statuses)),
        f"{60 * len(statuses) / seconds:.0f}",
        f"{busy / seconds:.0%}",
        str(statuses.count("wrong result")),
        str(sum(status not in ("ok", "pruned", "wrong result", "known failure", "lost") for status in statuses)),
    )


def _keep(directory: Path, case: Case, result: SearchResult) -> None:
    """Writes history and page of a study."""
    name = case.kernel.__name__
    history = [dataclasses.asdict(trial) for trial in result.history]
    (directory / f"search-{name}.json").write_text(json.dumps(history))
    found = result.report
    try:
        differences = ir_difference(found.about, result.default, result.best)
    except Exception as error:  # the page is worth having without it
        print(f"no difference of the IR: {error}")
        differences = []
    if name == "causal":
        (directory / "search-causal.html").write_text(page_of(found, differences))


if __name__ == "__main__":
    main()
