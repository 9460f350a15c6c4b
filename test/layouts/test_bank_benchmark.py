# SPDX-License-Identifier: Apache-2.0
"""The benchmark of bank conflicts counts as many instructions as Triton's PTX has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support import ROOT, environment, forked_python


@pytest.mark.slow
def test_the_instructions_are_those_of_the_ptx(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu" / "bank_conflicts.py"), "--ptx"]
    variables = environment(TRITON_CACHE_DIR=str(tmp_path))
    done = forked_python.run(command, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == 28
    assert sum("for matrices" in line for line in lines) < len(lines) // 2
