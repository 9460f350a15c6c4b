# SPDX-License-Identifier: Apache-2.0
"""Asks the oracle, in a process of its own because the declaration of a kernel reads TRITON_INTERPRET."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.interpreter import run_in_interpreter

_ORACLE = Path(__file__).with_name("oracle.py")


def truth(*arguments: object) -> Any:
    """Returns what the oracle prints for these arguments."""
    return json.loads(run_in_interpreter(str(_ORACLE), *map(str, arguments)))  # type: ignore[arg-type]
