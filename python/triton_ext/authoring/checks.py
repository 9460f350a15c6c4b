# SPDX-License-Identifier: Apache-2.0
"""The rows of ``triton-ext doctor``, and texts in them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Row:
    """One row of the table: one thing that must hold.

    Attributes:
        name: what is checked.
        state: whether it holds; ``warn`` is for information and does not fail.
        wanted: the expected value.
        found: the value that was found.
        fix: the command that mends it; empty if it holds.
    """

    name: str
    state: State
    wanted: str
    found: str
    fix: str = ""


def row_of(name: str, holds: bool, wanted: str, found: str, fix: str) -> Row:
    """Returns the row of a check that `holds` or is mended by `fix`."""
    return Row(name, "ok", wanted, found) if holds else Row(name, "fail", wanted, found, fix)


def short(path: Path) -> str:
    """Returns `path` with ``~`` for the home directory."""
    home = os.path.expanduser("~")  # is "~" where there is none
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def dotted(version: tuple[int, ...]) -> str:
    """Returns a version as text."""
    return ".".join(map(str, version))
