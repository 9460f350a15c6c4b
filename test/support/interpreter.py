# SPDX-License-Identifier: Apache-2.0
"""Runs kernels with ``TRITON_INTERPRET=1``, in a separate process because the declaration of a kernel reads the
variable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import support


def run_in_interpreter(script: str, *arguments: Path) -> str:
    """Runs the script and returns its output."""
    environment = support.environment(TRITON_INTERPRET="1")
    command = [sys.executable, "-W", "ignore", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
