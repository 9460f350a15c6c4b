# SPDX-License-Identifier: Apache-2.0
"""Runs kernels with ``TRITON_INTERPRET=1``, in a separate process because the declaration of a kernel reads the
variable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import support

if TYPE_CHECKING:
    import torch


def run_in_interpreter(script: str, *arguments: Path) -> str:
    """Runs the script and returns its output."""
    environment = support.environment(TRITON_INTERPRET="1")
    command = [sys.executable, "-W", "ignore", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def pointer_shapes_in_interpreter(seeds: range, directory: Path) -> list[list[torch.Tensor]]:
    """Returns what the interpreter makes of the random accesses of `support.pointer_shapes`, by way of a file."""
    import torch

    script, path = Path(__file__).with_name("pointer_shapes.py"), directory / "expected.pt"
    run_in_interpreter(str(script), Path(str(seeds.start)), Path(str(seeds.stop)), path)
    return torch.load(path)
