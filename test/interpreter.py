# SPDX-License-Identifier: Apache-2.0
"""Kernels in ``TRITON_INTERPRET=1``, which is chosen where a kernel is declared: in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_in_interpreter(script: str, *arguments: Path) -> str:
    """What the script prints."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-W", "ignore", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
