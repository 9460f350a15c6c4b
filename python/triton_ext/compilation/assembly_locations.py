# SPDX-License-Identifier: Apache-2.0
"""The locations in PTX, in AMD's assembly and in SASS."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator

from .escapes import unescaped
from .located import Chain, Frame, Located, lines_of

# PTX and the assembly of AMD

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?(?:.*?\binlined_at\s+(\d+)\s+(\d+)(?:\s+(\d+))?)?")
_COMMENTED = re.compile(r"@\[ ([^@\[\]]*?):(\d+):(\d+)")
_DEBUG_SECTION = re.compile(r"\s*\.section\s+\.debug_")
_SECTION = re.compile(r"\s*\.(?:section|text|data|bss|amdgpu_metadata)\b")
_INSTRUCTION = re.compile(r"\s+(?:\{\s*)?[@a-zA-Z_]")


def split_assembly(text: str) -> Located:
    """Separates PTX or AMD's assembly from directives for the debugger and sections of debug information."""
    files = {
        match[1]: os.path.join(unescaped(match[2]), unescaped(match[3] or ""))[: None if match[3] else -1]
        for match in map(_FILE.match, lines_of(text))
        if match
    }
    by_name = defaultdict(set)
    for path in files.values():
        by_name[os.path.basename(path)].add(path)

    def frames(match: re.Match[str]) -> Iterator[Frame]:
        for file, line, column in (match.group(1, 2, 3), match.group(4, 5, 6)):
            if file in files and line != "0":
                yield Frame(files[file], int(line), int(column or 0))
        if not match[4]:
            # LLVM writes the calls that the line was inlined into as a comment, with the file's name without directory.
            for name, line, column in _COMMENTED.findall(match.string):
                if len(by_name[name]) == 1 and line != "0":
                    yield Frame(next(iter(by_name[name])), int(line), int(column))

    lines: list[str] = []
    chains: list[Chain] = []
    chain: Chain = ()
    in_debug, in_braces = False, False
    for row in lines_of(text):
        if in_debug:
            in_debug = "}" not in row if in_braces or row.strip() == "{" else not _SECTION.match(row)
            in_braces = in_debug and (in_braces or row.strip() == "{")
            if in_debug or "}" in row:
                continue
        if _DEBUG_SECTION.match(row):
            in_debug, in_braces, chain = "}" not in row, "{" in row, ()
            continue
        location = _LOC.match(row)
        if location:
            chain = tuple(frames(location))
            continue
        if _FILE.match(row):
            continue
        if row.startswith("}") or _SECTION.match(row):
            chain = ()
        lines.append(row)
        chains.append(chain if _INSTRUCTION.match(row) else ())
    while lines and not lines[-1].strip():
        lines.pop()
        chains.pop()
    return Located(tuple(lines), tuple(chains))


# SASS

_SASS_PLACE = re.compile(r'"([^"]*)", line (\d+)')


def split_sass(text: str) -> Located:
    """Separates the output of ``nvdisasm``, with or without ``-gi``, or of ``cuobjdump -sass`` from its locations."""
    lines: list[str] = []
    chains: list[Chain] = []
    chain: Chain = ()
    inlined = False
    for row in lines_of(text):
        if row.lstrip().startswith("//## File"):
            frames = tuple(Frame(file, int(line)) for file, line in _SASS_PLACE.findall(row))
            # "A inlined at B" is followed by a line for B itself, which may be inlined in turn.
            chain = (*chain[:-1], *frames) if inlined and chain[-1:] == frames[:1] else frames
            inlined = " inlined at " in row
            continue
        inlined = False
        lines.append(row.expandtabs())
        chains.append(chain if row.lstrip().startswith("/*") else ())
    return Located(tuple(lines), tuple(chains))
