# SPDX-License-Identifier: Apache-2.0
"""Reads the escapes that MLIR and LLVM write in strings."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{2})|(.))")


def unescaped(text: str) -> str:
    """Returns the string that MLIR or LLVM wrote as `text`, with bytes that are not printable ASCII as hex digits."""
    if "\\" not in text:
        return text
    raw = b""
    start = 0
    for match in _ESCAPE.finditer(text):
        raw += text[start : match.start()].encode()
        raw += bytes.fromhex(match[1]) if match[1] else match[2].encode()
        start = match.end()
    return (raw + text[start:].encode()).decode(errors="replace")
