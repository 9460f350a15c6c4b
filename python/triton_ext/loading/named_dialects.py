# SPDX-License-Identifier: Apache-2.0
"""Finds the dialects of extensions in a text: of attributes (``#dialect.name<...>``) and types (``!dialect.name``)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import TritonExtError
from .discovery import Extension, extensions

_NAMED = re.compile(r"[#!]([a-z][a-z0-9_]*)\.")


def names(texts: Iterable[str]) -> list[str]:
    """Returns the dialects whose attributes or types `texts` have, sorted; no extension need have such a dialect."""
    return sorted({name for text in texts for name in _NAMED.findall(text)})


def find(dialect: str) -> Extension | None:
    """Returns the extension that has `dialect`; None if it is inside Triton, or if nobody has it.

    Raises:
        TritonExtError: the extension cannot be used.
    """
    for extension in extensions():
        has = extension.plugin and dialect in extension.plugin.dialects
        if has or (extension.problem is not None and extension.name == dialect):
            if extension.problem is not None:
                raise TritonExtError(f"the dialect '{dialect}' is broken: {extension.problem}")
            return extension
    return None
