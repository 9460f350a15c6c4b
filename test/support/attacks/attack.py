# SPDX-License-Identifier: Apache-2.0
"""Defines an attack.

Each module beside this one is an area and has `ATTACKS: list[Attack]`. A test runs them at a small scale, and `make
attack` at a large one.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import support
from support import forked_python


@dataclass(frozen=True)
class Outcome:
    """How an attack went.

    Attributes:
        tried: number of attempts.
        got_through: number of attempts that did what must not happen.
        note: one line for the table, such as how long the slowest attempt took.
    """

    tried: int
    got_through: int
    note: str = ""


@dataclass(frozen=True)
class Attack:
    """One way to attack the project.

    Attributes:
        name: what it is, for the table.
        run: tries it. Takes the source of randomness and the scale, which bounds the number of attempts.
    """

    name: str
    run: Callable[[random.Random, int], Outcome]


def run_in_process(command: Sequence[str], timeout: float, **environment: str) -> Outcome:
    """Runs Python with `command`, which prints an `Outcome` as JSON.

    A process that fails or hangs counts as an attempt that got through.

    Args:
        command: arguments of Python.
        timeout: seconds after which the process counts as hung.
        environment: variables to set, beside those that every attack needs.
    """
    with tempfile.TemporaryDirectory() as cache:
        variables = support.environment(TRITON_CACHE_DIR=cache, TRITON_DEFAULT_FP_FUSION="1") | environment
        try:
            done = forked_python.run([sys.executable, *command], env=variables, timeout=timeout)
        except subprocess.TimeoutExpired:
            return Outcome(1, 1, "the process hung")
    if done.returncode:
        return Outcome(1, 1, f"the process ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))
