# SPDX-License-Identifier: Apache-2.0
"""Functions of a user that note whether their process holds the turn on the CPU: inputs, a reference, and a pass."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from triton_ext.searching import turns

from . import planted

#: The variable that names the file to write to.
FILE = "TRITON_EXT_TEST_SEEN_IN_TURN"


def is_held() -> bool:
    """Whether some process holds the turn on the CPU."""
    lock = FileLock(turns._directory() / "cpu.turn", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except (Timeout, RuntimeError):
        return True
    lock.release()
    return False


def _note(what: str) -> None:
    with Path(os.environ[FILE]).open("a") as file:
        file.write(json.dumps([what, is_held()]) + "\n")


def make_inputs() -> Iterator[dict[str, Any]]:
    """Yields the launches of `planted`."""
    _note("inputs")
    yield from planted.make_inputs()


def reference(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what `planted.blend` stores."""
    _note("reference")
    a, b = arguments["x"], arguments["z"]
    return {"y": (a * 3.0 - b).clamp(min=0.5) + a.abs()}


def seen(text: str) -> str:
    """Returns the text of a module with another name of the kernel's value, so that it is another pass."""
    _note("compiled")
    return text


STAGE = planted._rewriting("help_seen", seen)
