# SPDX-License-Identifier: Apache-2.0
"""A source file, of Python, C++ or CMake, does one thing, and so has at most 300 lines. Tests are excepted, but not the
modules that they share."""

from __future__ import annotations

import subprocess

from support import ROOT

MOST = 300
#: Benchmarks and shared modules of tests that are longer. A file leaves this list when it is split; none joins it.
STILL_LONGER = {
    "benchmarks/gpu/loop_split_kernels.py",
    "benchmarks/gpu/probe.py",
    "benchmarks/pipeline.py",
    "test/support/analysis/integer_builder.py",
    "test/support/analysis/integer_claims.py",
    "test/support/attacks/disk.py",
    "test/support/attacks/downloads.py",
    "test/support/attacks/loading.py",
    "test/support/linalg/coverage_page.py",
    "test/support/linalg/random_kernels.py",
    "test/support/loop_split/interpret.py",
    "test/support/loop_split/programs.py",
    "test/support/probe/observations.py",
    "test/support/sdk/world.py",
}
DIRECTORIES = ("backends", "dialects", "infra", "passes")


def _lines(*patterns: str) -> dict[str, int]:
    """Returns how many lines each file has that git tracks and that matches one of `patterns`."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split() if (ROOT / name).is_file()]
    return {name: (ROOT / name).read_text().count("\n") for name in files}


def test_no_module_is_longer() -> None:
    found = _lines("python/*.py", *(f"{directory}/*.py" for directory in DIRECTORIES))
    lines = {name: count for name, count in found.items() if "/test/" not in name}
    assert len(lines) > 200
    assert {name: count for name, count in lines.items() if count > MOST} == {}


def test_no_other_benchmark_or_shared_module_is_longer() -> None:
    lines = _lines("benchmarks/*.py", "test/support/*.py")
    assert len(lines) > 100
    assert {name for name, count in lines.items() if count > MOST} == STILL_LONGER


def test_no_source_of_cpp_is_longer() -> None:
    lines = _lines(*(f"{directory}/*.{suffix}" for directory in (*DIRECTORIES, "test") for suffix in ("cpp", "h")))
    assert len(lines) > 200
    assert {name: count for name, count in lines.items() if count > MOST} == {}


def test_no_file_of_cmake_is_longer() -> None:
    lines = _lines("*.cmake", "*CMakeLists.txt")
    assert len(lines) > 40
    assert {name: count for name, count in lines.items() if count > MOST} == {}
