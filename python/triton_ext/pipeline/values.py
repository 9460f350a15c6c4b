# SPDX-License-Identifier: Apache-2.0
"""Writes the arguments of passes as the text form of a pipeline has them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ..loading.manifest import digits

Value = int | float | bool | str


def braces(arguments: Mapping[str, Value]) -> str:
    """Returns e.g. ``{num-stages=3 dump=false}``; empty if there are no arguments."""
    return (
        "{" + " ".join(f"{n.replace('_', '-')}={text_of(v)}" for n, v in arguments.items()) + "}" if arguments else ""
    )


def text_of(value: Value) -> str:
    """Returns `value` as the text form of a pipeline writes it.

    Raises:
        PipelineError: it is an integer with more bits than any argument of a pass.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return digits(value)
    if isinstance(value, float) or (re.fullmatch(r"[A-Za-z_][\w.:+-]*", value) and value not in ("true", "false")):
        return str(value)
    return json.dumps(value, ensure_ascii=False)
