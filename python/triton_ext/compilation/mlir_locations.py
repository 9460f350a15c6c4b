# SPDX-License-Identifier: Apache-2.0
"""The locations in MLIR's textual syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .escapes import unescaped
from .located import MOST_FRAMES, Chain, Frame, Located, lines_of

_ALIAS = re.compile(r"#(loc\d*) = loc\((.*)\)$")
_LOC_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t]?\bloc\(')
_ONLY_ALIAS = re.compile(r"(?<= )loc\(#loc\d*\)$")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_POSITION = re.compile(r":(\d+)(?::(\d+))?(?: to (?:\d+)?:\d+)?")
_DEEPEST = 100  # the depth of nested locations that is read


def split_mlir(text: str) -> Located:
    """Separates a module in MLIR's syntax from its locations.

    MLIR prints the location of an operation with regions after the closing brace; it is given to the first line, too.
    """
    locations = _MlirLocations()
    rows = []
    for line in lines_of(text):
        alias = _ALIAS.match(line)
        if alias:
            locations.aliases[alias[1]] = alias[2]
        else:
            rows.append(line)
    while rows and not rows[-1]:
        rows.pop()

    lines: list[str] = []
    chains: list[Chain] = []
    open_lines: list[list[int]] = []  # for each open region, the lines whose operation its closing brace ends
    for number, row in enumerate(rows):
        line, chain = locations.strip(row)
        lines.append(line)
        chains.append(chain)
        closes = line.lstrip()[:1] == "}"
        if line.endswith("{"):
            if closes and open_lines:
                open_lines[-1].append(number)
            else:
                open_lines.append([number])
        elif closes and open_lines:
            for opened in open_lines.pop():
                chains[opened] = chain
    return Located(tuple(lines), tuple(chains))


def chains(text: str) -> Iterator[Chain]:
    """Yields the chain of each location that has an alias in a module in MLIR's syntax."""
    locations = _MlirLocations()
    locations.aliases = {alias[1]: alias[2] for alias in map(_ALIAS.match, lines_of(text)) if alias}
    return map(locations.chain, locations.aliases.values())


class _MlirLocations:
    """Finds and parses the locations of one module."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.known: dict[str, Chain] = {}
        self.depth = 0

    def strip(self, line: str) -> tuple[str, Chain]:
        """Returns `line` without locations, and the last of them, which is the operation's."""
        at = line.find("loc(")
        if at < 0:
            return line.rstrip(), ()
        if _ONLY_ALIAS.match(line, at):  # nearly every line
            return line[:at].rstrip(), self.chain(line[at + 4 : -1])
        kept: list[str] = []
        chain: Chain = ()
        start = 0
        for match in _LOC_OR_STRING.finditer(line):
            if match.start() < start or match[0].startswith('"'):
                continue
            end = _closing(line, match.end())
            if end < 0:
                break
            chain = self.chain(line[match.end() : end])
            kept.append(line[start : match.start()])
            start = end + 1
        return ("".join(kept) + line[start:]).rstrip(), chain

    def chain(self, text: str) -> Chain:
        """Returns the chain for `text`, the inside of ``loc(...)``."""
        found = self.known.get(text)
        if found is None:
            self.known[text] = ()  # the chain of an alias that contains itself
            self.depth += 1
            found = self.known[text] = self._parse(text.strip()) if self.depth < _DEEPEST else ()
            self.depth -= 1
        return found

    def _parse(self, text: str) -> Chain:
        if text.startswith("#"):
            return self.chain(self.aliases[text[1:]]) if text[1:] in self.aliases else ()
        string = _STRING.match(text)
        if string:
            rest = text[string.end() :]
            position = _POSITION.match(rest)
            if position:
                return (Frame(unescaped(string[1]), int(position[1]), int(position[2] or 0)),)
            return self.chain(rest[1:-1]) if rest.startswith("(") and rest.endswith(")") else ()
        if text.startswith("callsite(") and text.endswith(")"):
            parts = _parts(text[len("callsite(") : -1], " at ")
            return tuple(frame for part in parts for frame in self.chain(part))[:MOST_FRAMES]
        if text.startswith("fused"):
            # The metadata in <...> may contain brackets, too; the list of locations is the last.
            start = _fused_list(text)
            parts = _parts(text[start:-1], ",") if start > 0 and text.endswith("]") else []
            return next(filter(None, map(self.chain, parts)), ())
        return ()


def _fused_list(text: str) -> int:
    """Returns where the list of ``fused<...>[...]`` begins; -1 if there is none."""
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|->|[<>\[]', text):
        if match[0] == "[" and depth == 0:
            return match.end()
        depth += {"<": 1, ">": -1}.get(match[0], 0)
    return -1


def _brackets(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yields the position of each round or square bracket outside of strings, and the depth after it."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[()\[\]]').finditer(text, start):
        if match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth -= 1
        else:
            continue
        yield match.start(), depth


def _closing(text: str, start: int) -> int:
    """Returns the position of the bracket that closes the one before `start`; -1 if there is none."""
    return next((at for at, depth in _brackets(text, start) if depth < 0), -1)


def _parts(text: str, separator: str) -> list[str]:
    """Splits `text` at each `separator` outside of brackets and strings."""
    parts: list[str] = []
    depth = start = 0
    for match in re.finditer(rf'"(?:[^"\\]|\\.)*"|[()\[\]<>]|{re.escape(separator)}', text):
        if match[0] == separator and depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
        depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(match[0], 0)
    return [*parts, text[start:].strip()]
