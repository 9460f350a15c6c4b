# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of other tests under all checks, and judges each finding.

``PYTHONPATH=test python -m support.sanitizer.false_alarms DIRECTORY [FILE...]`` runs the tests of FILES (by default
those of backends/cpu/test and test/linalg that launch kernels), one process for each file, and keeps what was found in
DIRECTORY; a file that was run before is left out. It prints a table. As a plugin of pytest (``-p
support.sanitizer.false_alarms``) it adds a line of JSON for each test to the file ``TRITON_EXT_JUDGED``. Kernels of
test/linalg run on the CPU backend instead of by way of linalg.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support import ROOT, environment

#: Files that launch no kernels of their own in the test's process: they compile, read machine code, start other
#: programs, or call compiled code without a launch.
_NO_LAUNCHES = re.compile(
    r"_mutations|test_leaks|test_dot_units|test_dot_waiting|test_compile_cpu|test_assembly|test_ahead_of_time|test_both_ways|_coverage\b"
)

#: What kernels of tests do on purpose: the file, the kernel and the check, and why.
ON_PURPOSE: dict[tuple[str, str, str], str] = {
    ("test/linalg/test_linalg_corners.py", "in_box", "lanes"): "the test: a lane without other is 0",
    ("test/linalg/test_rows.py", "columns", "lanes"): "the test: a lane without other is 0",
    ("test/linalg/test_linalg_promises.py", "clamped", "hints"): "the test: promises that do not hold",
    ("test/linalg/test_linalg_promises.py", "same_rows", "hints"): "the test: promises that do not hold",
    ("test/linalg/test_linalg_promises.py", "wrapped", "overflow"): "the test: offsets that wrap",
    ("test/support/cpu/interpreter_cases/memory.py", "masks", "lanes"): "the test: a lane without other is 0",
    (
        "test/support/cpu/fault_programs.py",
        "slow",
        "race",
    ): "the test: all programs write one number, which nobody reads",
    ("test/support/cpu/fault_programs.py", "fill", "overflow"): "the test: addresses far outside",
    ("backends/cpu/test/test_split_points.py", "near_the_end", "overflow"): "the test: indices that wrap",
    ("backends/cpu/test/test_volatile.py", "copy", "lanes"): "the test: a lane without other is 0",
    (
        "backends/cpu/test/test_program_order.py",
        "tiled",
        "race",
    ): "the test: programs count in one thread, in their order",
    ("backends/cpu/test/test_program_order.py", "wild", "race"): "the test: all programs store to one tile",
    ("backends/cpu/test/test_memory.py", "masked_load", "lanes"): "the test: a lane without other is 0",
    ("backends/cpu/test/test_memory.py", "strided", "view"): "the test: negative strides from a view's last element",
    ("backends/cpu/test/test_split_points.py", "strided", "view"): "the test: elements before and behind a view",
    ("backends/cpu/test/test_lanes.py", "around", "race"): "the test: programs write the same numbers to one element",
    ("backends/cpu/test/test_lanes.py", "around", "view"): "the test: negative offsets from the middle of the memory",
    ("backends/cpu/test/test_lanes.py", "rows", "view"): "the test: negative offsets from the middle of the memory",
}


def is_right(finding: Any) -> bool:
    """Whether the values of a finding of `arith` show that its operation has no defined result, or the first NaN."""
    values = {name: value for name, value in finding.values.items() if isinstance(value, int | float)}
    operands = list(values.values())[:2]  # those of variables on the line are behind them
    if finding.message == "NaN or Inf from finite numbers":
        result = values.pop("result", 0)
        return not math.isfinite(result) and all(map(math.isfinite, values.values()))
    if finding.message == "division by zero":
        return 0 in operands
    if finding.message == "the least integer divided by -1":
        return -1 in operands and any(-value in (2**7, 2**15, 2**31, 2**63) for value in operands)
    if finding.message == "shift past the width":
        return any(value >= 8 or value < 0 for value in operands)
    if finding.message == "float to int out of range":
        return any(not 0 <= value < 128 for value in operands[:1])
    return False


def judged(finding: Any) -> str:
    """Returns why a finding is right; the empty text if nothing says so."""
    if finding.check == "arith" and is_right(finding):
        return "its values"
    file = Path(finding.file)
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    return ON_PURPOSE.get((name, finding.kernel, finding.check), "")


class _Counted:
    """The launches of one test."""

    def __init__(self) -> None:
        self.launches, self.kernels = 0, set[str]()


def _on_the_cpu_backend() -> None:
    """Has kernels that go by way of linalg run on the CPU backend."""
    import triton
    from triton_ext.backends.cpu.driver import CPUDriver

    from support.linalg import execute

    run = triton.JITFunction.run

    def launch(kernel: Any, grid: Any, _at_end: bool, *args: Any, **kwargs: Any) -> None:
        active, triton.runtime.driver._active = triton.runtime.driver._active, CPUDriver()
        try:
            run(kernel, *args, grid=grid, warmup=False, **kwargs)
        finally:
            triton.runtime.driver._active = active

    execute.launch = launch


def pytest_configure() -> None:
    """Counts launches, and prepares the kernels of test/linalg."""
    import triton

    run = triton.JITFunction.run

    def counted(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if not warmup and _now is not None:
            _now.launches += 1
            _now.kernels.add(self.fn.__qualname__)
        return run(self, *args, grid=grid, warmup=warmup, **kwargs)

    triton.JITFunction.run = counted
    _on_the_cpu_backend()


_now: _Counted | None = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, Any]:
    """Runs a test and its fixtures in a block, and writes what was found."""
    global _now  # noqa: PLW0603 - the test that runs now
    import triton_ext as tx

    _now = counted = _Counted()
    with tx.sanitize(os.environ.get("TRITON_EXT_JUDGED_CHECKS", "all")) as report:
        result = yield
        _now = None
        row = {
            "test": item.nodeid,
            "launches": counted.launches,
            "kernels": sorted(counted.kernels),
            "accesses": report.counts(),
            "findings": [
                {
                    "check": one.check, "kernel": one.kernel, "file": Path(one.file).name, "line": one.line,
                    "judged": judged(one), "text": one.message, "values": {k: str(v) for k, v in one.values.items()},
                }
                for one in report.findings
            ],
        }  # fmt: skip
    with Path(os.environ["TRITON_EXT_JUDGED"]).open("a") as file:
        file.write(json.dumps(row) + "\n")
    return result


def files() -> list[str]:
    """Returns the files with kernels that run on the CPU backend."""
    found = [*(ROOT / "backends" / "cpu" / "test").glob("test_*.py"), *(ROOT / "test" / "linalg").glob("test_*.py")]
    return sorted(one.relative_to(ROOT).as_posix() for one in found if not _NO_LAUNCHES.search(one.name))


def run(file: str, rows: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs the tests of a file, and writes a row for each to `rows`."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += ["-p", "support.sanitizer.false_alarms", *options, file]
    variables = environment(CI="", TRITON_EXT_JUDGED=str(rows))
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT / "test"), variables.get("PYTHONPATH", "")])
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


def read(rows: Path) -> list[dict[str, Any]]:
    """Returns the rows of a file."""
    return [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """Returns how many tests, kernels, launches and findings there are, and the findings that nothing explains."""
    directories: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        directories.setdefault(row["test"].rpartition("/")[0], []).append(row)
    lines = []
    for directory, of_directory in directories.items():
        launching = [row for row in of_directory if row["launches"]]
        kernels = {(row["test"].partition("::")[0], kernel) for row in launching for kernel in row["kernels"]}
        findings = [one for row in of_directory for one in row["findings"]]
        accesses = Counter[str]()
        for row in of_directory:
            accesses.update(row["accesses"])
        said = ", ".join(f"{count} {kind}" for kind, count in accesses.items())
        launches = sum(row["launches"] for row in launching)
        lines.append(
            f"{directory}: {len(launching)} tests launch {len(kernels)} kernels {launches} times;"
            f" accesses: {said}; findings: {len(findings)}"
        )
        for (check, why), count in sorted(Counter((one["check"], one["judged"]) for one in findings).items()):
            lines.append(f"  {check}: {count}, {'right by ' + why if why else 'NOT EXPLAINED'}")
        unknown = Counter(
            (one["file"], one["line"], one["kernel"], one["check"], one["text"])
            for one in findings
            if not one["judged"]
        )
        lines += [f"    {file}:{line} {rest} ({count})" for (file, line, *rest), count in sorted(unknown.items())]
    return "\n".join(lines)


def main(directory: str, *chosen: str) -> int:
    """Runs the files, and prints the table; returns the exit status."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for file in chosen or files():
        kept = Path(directory) / (file.replace("/", ".") + ".jsonl")
        if not kept.exists():
            done = run(file, kept)
            last = [line for line in done.stdout.splitlines() if "passed" in line or "failed" in line]
            print(f"{file}: {''.join(last[-1:]) or f'status {done.returncode}'}", flush=True)
            kept.with_suffix(".log").write_text(done.stdout + done.stderr)
        rows += read(kept)
    print(table(rows))
    return int(any(not one["judged"] for row in rows for one in row["findings"]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
