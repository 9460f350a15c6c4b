# SPDX-License-Identifier: Apache-2.0
"""Texts as MLIR and LLVM escape them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{2})|(.))")


def unescaped(text: str) -> str:
    """What MLIR or LLVM wrote as `text`: bytes that are not printable ASCII are two hexadecimal digits there."""
    if "\\" not in text:
        return text
    raw = b""
    start = 0
    for match in _ESCAPE.finditer(text):
        raw += text[start : match.start()].encode()
        raw += bytes.fromhex(match[1]) if match[1] else match[2].encode()
        start = match.end()
    return (raw + text[start:].encode()).decode(errors="replace")
