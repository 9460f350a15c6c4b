# SPDX-License-Identifier: Apache-2.0
"""What an action returns, and how a long text is cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import TritonExtError
from .limits import LINE_CHARACTERS


class FailedError(TritonExtError):
    """An action that did not do what it was asked to, with its status.

    Args:
        status: e.g. ``compile error``.
        message: what went wrong.
        fix: what mends it.
    """

    def __init__(self, status: str, message: str, *, fix: str | None = None) -> None:
        super().__init__(message, fix=fix)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """What an action returns.

    Attributes:
        text: for the agent to read.
        status: ``ok``, or why it did not do what it was asked to.
        figures: numbers and short texts for programs.
        rest: how an agent gets the rest, if the text is cut.
    """

    text: str
    status: str = "ok"
    figures: dict[str, Any] = field(default_factory=dict)
    rest: str = "ask for less at a time"


def cut(text: str, most: int, rest: str) -> str:
    """Returns `text` with at most `most` characters, at the end of a line, and a note of what is missing."""
    lines = [
        line
        if len(line) <= LINE_CHARACTERS
        else f"{line[:LINE_CHARACTERS]} [... {len(line):,} characters in this line]"
        for line in text.splitlines()
    ]
    kept, size = 0, 0
    for line in lines:
        size += len(line) + 1
        if size > most:
            break
        kept += 1
    if kept == len(lines):
        return "\n".join(lines)
    return "\n".join([*lines[:kept], f"[... {len(lines) - kept:,} of {len(lines):,} lines left out; {rest}]"])
