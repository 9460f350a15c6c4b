# SPDX-License-Identifier: Apache-2.0
"""The pass's verdict on each access before the kernel runs: proved, checked or unsupported."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

#: What is known of an access before the kernel runs, in the order of the report.
KINDS = ("proved", "checked", "unsupported")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one operation in one check.

    Attributes:
        kernel: the kernel's name.
        file: the Python file; empty if it is unknown.
        line: the line in it.
        column: the column of the operation, from 1.
        check: the name of the check.
        verdict: ``proved``, ``checked`` or ``unsupported``.
        why: the reason, if there is one.
    """

    kernel: str
    file: str
    line: int
    column: int
    check: str
    verdict: str
    why: str


def of(kernel: Any) -> tuple[Verdict, ...] | None:
    """Returns the pass's verdicts on a ``CompiledKernel``; None if the pass has not run."""
    said = attribute_of(kernel, "sanitize.verdicts")
    if said is None:
        return None
    file, name = file_of(kernel), str(kernel.metadata.name)
    return tuple(
        Verdict(
            name, one.get("file", file), one["line"], one["column"], one["check"], one["verdict"], one.get("why", "")
        )
        for one in said
    )


def attribute_of(kernel: Any, name: str) -> Any:
    """Returns the JSON in an attribute of a ``CompiledKernel``'s module; None if the attribute is not there."""
    pattern = re.escape(name) + r' = "((?:[^"\\]|\\.)*)"'
    text = re.search(pattern, str(kernel.asm.get("ttir", "")))
    if text is None:
        return None
    content = re.sub(r"\\([0-9A-F]{2}|.)", lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], text[1])
    return json.loads(content.encode("latin-1").decode(errors="replace"))


def file_of(kernel: Any) -> str:
    """Returns the Python file of a ``CompiledKernel``; the empty text if it is unknown."""
    return str(getattr(getattr(kernel.src, "fn", None), "file_name", "") or "")
