# SPDX-License-Identifier: Apache-2.0
"""The names in the command lines and pipelines of ``triton-ext-opt`` that may be passes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_PIPELINE_OPTIONS = ("pass-pipeline", "p")


def names(arguments: list[str]) -> Iterator[str]:
    """Yields the names in a command line that may be passes."""
    for argument, following in zip(arguments[1:], [*arguments[2:], ""], strict=False):
        if argument.startswith("-"):
            name, equals, value = argument.lstrip("-").partition("=")
            if name in _PIPELINE_OPTIONS:
                yield from names_in(value if equals else following)
            elif name.startswith("mlir-print-ir-"):
                yield from value.split(",")
            elif name:
                yield name


def names_in_input(arguments: list[str]) -> Iterator[str]:
    """Yields the names in the pipelines that ``-run-reproducer`` will find in the files of a command line."""
    if any(a.startswith("-") and a.lstrip("-") == "run-reproducer" for a in arguments):
        for path in (Path(a) for a in arguments[1:] if os.path.isfile(a)):
            for pipeline in re.findall(r'^\s*pipeline: "(.*)"', path.read_text(errors="replace"), re.MULTILINE):
                yield from names_in(pipeline)


def names_in(pipeline: str) -> list[str]:
    """Returns the names in a textual pipeline that may be passes."""
    while pipeline != (pipeline := re.sub(r"\{[^{}]*\}", "", pipeline)):
        pass  # an option may contain a pipeline, in braces
    return re.findall(r"[\w.-]+", pipeline)
