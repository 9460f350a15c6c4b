# SPDX-License-Identifier: Apache-2.0
"""The debug information in LLVM IR."""

from __future__ import annotations

import functools
import os
import re
from collections import defaultdict

from .escapes import unescaped
from .located import MOST_FRAMES, Chain, Frame, Located, lines_of

_MOST_SCOPES = 1000
_METADATA = re.compile(r"!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!?([\w-]+))')
_DEBUG = re.compile(r",? !dbg !(\d+)")


def split_llvm(text: str) -> Located:
    """Separates a module of LLVM IR from its debug information: the nodes and the references to them are left out."""
    nodes: dict[str, tuple[str, dict[str, str]]] = {}
    rows = []
    for line in lines_of(text):
        node = _METADATA.match(line) if line.startswith("!") else None
        if node:
            nodes[node[1]] = (node[2], {m[1]: m[2] if m[2] is not None else m[3] for m in _FIELD.finditer(node[3])})
        elif not line.startswith("!llvm.dbg.cu"):
            rows.append(line)

    @functools.cache
    def file_of(number: str) -> str:
        for _ in range(_MOST_SCOPES):  # the chain of scopes may be a circle
            kind, fields = nodes.get(number, ("", {}))
            if kind == "DIFile":
                return os.path.join(unescaped(fields.get("directory", "")), unescaped(fields.get("filename", "")))
            number = fields.get("file") or fields.get("scope") or ""
        return ""

    def chain_of(number: str) -> Chain:
        frames: list[Frame] = []
        for _ in range(MOST_FRAMES):  # this chain may be a circle, too
            if number not in nodes:
                break
            kind, fields = nodes[number]
            line, column = fields.get("line", ""), fields.get("column", "")
            file = file_of(fields.get("scope" if kind == "DILocation" else "file", ""))
            if file and line.isdecimal() and line != "0":
                frames.append(Frame(file, int(line), int(column) if column.isdecimal() else 0))
            number = fields.get("inlinedAt", "")
        return tuple(frames)

    known: dict[str, Chain] = defaultdict(tuple)
    lines, chains = [], []
    for row in rows:
        match = _DEBUG.search(row) if " !dbg !" in row else None
        if match and match[1] not in known:
            known[match[1]] = chain_of(match[1])
        lines.append(row[: match.start()] + row[match.end() :] if match else row)
        chains.append(known[match[1]] if match else ())
    while lines and not lines[-1]:
        lines.pop()
        chains.pop()
    return Located(tuple(lines), tuple(chains))
