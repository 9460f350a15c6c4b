# SPDX-License-Identifier: Apache-2.0
"""IR without its locations, and for each line the places in Python that it comes from.

Differences are made on text without locations: an alias such as ``#loc12`` that got another number is none. Everything
that is not understood is left as it is and points nowhere; no text makes these functions fail.
"""

from __future__ import annotations

import functools
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .escapes import unescaped


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a source file.

    Attributes:
        file: its path, as the compiler wrote it.
        line: from 1.
        column: from 1; 0 if unknown.
    """

    file: str
    line: int
    column: int = 0


#: Where a line comes from: the place itself, then the place that it was inlined into, and so on.
Chain = tuple[Frame, ...]


@dataclass(frozen=True)
class Located:
    """Text whose locations stand beside it.

    Attributes:
        lines: the lines, locations left out.
        chains: for each line where it comes from; empty if that is unknown.
    """

    lines: tuple[str, ...]
    chains: tuple[Chain, ...]

    @property
    def text(self) -> str:
        """The lines as a text; its last line ends too."""
        return "".join(f"{line}\n" for line in self.lines)


def shown_frame(chain: Chain, kernel_file: str | None, known_files: Iterable[str] = ()) -> int:
    """Which frame of `chain` to show first: the innermost in the kernel's file, else in a file that we have.

    Returns:
        An index; 0 if no frame lies in such a file.
    """
    known = tuple(known_files)
    for wanted in ((kernel_file,), known):
        for index, frame in enumerate(chain):
            if frame.file in wanted:
                return index
    return 0


def language_of(stage: str, text: str) -> str:
    """What `text`, which came out of a stage, is written in: a key of `LANGUAGES`, or ``text``."""
    if stage in LANGUAGES:
        return stage
    if re.search(r"^(?:(?:builtin\.)?module\b|#\w+ = |\"builtin\.module\")", text, re.MULTILINE):
        return "mlir"
    if re.search(r"^(?:; ModuleID|source_filename = |target triple = |define )", text, re.MULTILINE):
        return "llvm"
    return "text"


def split(text: str, language: str) -> Located:
    """`text` in `language` (see `language_of`) without its locations."""
    return LANGUAGES.get(language, _plain)(text)


def _lines(text: str) -> list[str]:
    """The lines of `text` as compilers count them: a form feed ends none, unlike for ``str.splitlines``."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


def _plain(text: str) -> Located:
    lines = tuple(_lines(text))
    return Located(lines, ((),) * len(lines))


# MLIR

_ALIAS = re.compile(r"#(loc\d*) = loc\((.*)\)$")
_LOC_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t]?\bloc\(')
_ONLY_ALIAS = re.compile(r"(?<= )loc\(#loc\d*\)$")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_POSITION = re.compile(r":(\d+)(?::(\d+))?(?: to (?:\d+)?:\d+)?")
_DEEPEST = 100  # locations in locations; deeper ones are unknown
#: Of a chain: each location may stand in two others, so that 20 lines of IR make a million of them.
_MOST_FRAMES = 100


def split_mlir(text: str) -> Located:
    """A module in MLIR's syntax, printed with locations.

    The first line of an operation with regions gets the location that stands behind the closing brace.
    """
    locations = _MlirLocations()
    rows = []
    for line in _lines(text):
        alias = _ALIAS.match(line)
        if alias:
            locations.aliases[alias[1]] = alias[2]
        else:
            rows.append(line)
    while rows and not rows[-1]:
        rows.pop()

    lines: list[str] = []
    chains: list[Chain] = []
    open_lines: list[list[int]] = []  # of each region around: the lines that end in its brace
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
    """What each location means that has a name in a module in MLIR's syntax."""
    locations = _MlirLocations()
    locations.aliases = {alias[1]: alias[2] for alias in map(_ALIAS.match, _lines(text)) if alias}
    return map(locations.chain, locations.aliases.values())


class _MlirLocations:
    """Finds and understands the locations of one module."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.known: dict[str, Chain] = {}
        self.depth = 0

    def strip(self, line: str) -> tuple[str, Chain]:
        """`line` without locations, and the last of them, which is that of the operation."""
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
        """What the inside of ``loc(...)`` means."""
        found = self.known.get(text)
        if found is None:
            self.known[text] = ()  # also what an alias that contains itself means
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
            return tuple(frame for part in parts for frame in self.chain(part))[:_MOST_FRAMES]
        if text.startswith("fused"):
            # The metadata in <...> may itself hold brackets; the locations are the last of them.
            start = _fused_list(text)
            parts = _parts(text[start:-1], ",") if start > 0 and text.endswith("]") else []
            return next(filter(None, map(self.chain, parts)), ())
        return ()


def _fused_list(text: str) -> int:
    """Where the list of ``fused<...>[...]`` begins; -1 if there is none."""
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|->|[<>\[]', text):
        if match[0] == "[" and depth == 0:
            return match.end()
        depth += {"<": 1, ">": -1}.get(match[0], 0)
    return -1


def _brackets(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """The places outside of strings where the depth of round and square brackets changes, and the depth then."""
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
    """Where the bracket closes that was opened before `start`; -1 if it does not."""
    return next((at for at, depth in _brackets(text, start) if depth < 0), -1)


def _parts(text: str, separator: str) -> list[str]:
    """`text` split at each `separator` outside of brackets and strings."""
    parts: list[str] = []
    depth = start = 0
    for match in re.finditer(rf'"(?:[^"\\]|\\.)*"|[()\[\]<>]|{re.escape(separator)}', text):
        if match[0] == separator and depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
        depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(match[0], 0)
    return [*parts, text[start:].strip()]


# LLVM IR

_MOST_SCOPES = 1000
_METADATA = re.compile(r"!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!?([\w-]+))')
_DEBUG = re.compile(r",? !dbg !(\d+)")


def split_llvm(text: str) -> Located:
    """A module of LLVM IR; the nodes of the debug information are left out with the references to them."""
    nodes: dict[str, tuple[str, dict[str, str]]] = {}
    rows = []
    for line in _lines(text):
        node = _METADATA.match(line) if line.startswith("!") else None
        if node:
            nodes[node[1]] = (node[2], {m[1]: m[2] if m[2] is not None else m[3] for m in _FIELD.finditer(node[3])})
        elif not line.startswith("!llvm.dbg.cu"):
            rows.append(line)

    @functools.cache
    def file_of(number: str) -> str:
        for _ in range(_MOST_SCOPES):  # scopes are chained, maybe in a circle
            kind, fields = nodes.get(number, ("", {}))
            if kind == "DIFile":
                return os.path.join(unescaped(fields.get("directory", "")), unescaped(fields.get("filename", "")))
            number = fields.get("file") or fields.get("scope") or ""
        return ""

    def chain_of(number: str) -> Chain:
        frames: list[Frame] = []
        for _ in range(_MOST_FRAMES):  # these, too
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


# PTX and the assembly of AMD

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?(?:.*?\binlined_at\s+(\d+)\s+(\d+)(?:\s+(\d+))?)?")
_COMMENTED = re.compile(r"@\[ ([^@\[\]]*?):(\d+):(\d+)")
_DEBUG_SECTION = re.compile(r"\s*\.section\s+\.debug_")
_SECTION = re.compile(r"\s*\.(?:section|text|data|bss|amdgpu_metadata)\b")
_INSTRUCTION = re.compile(r"\s+(?:\{\s*)?[@a-zA-Z_]")


def split_assembly(text: str) -> Located:
    """PTX or AMD's assembly; directives for the debugger are left out, sections of debug information too."""
    files = {
        match[1]: os.path.join(unescaped(match[2]), unescaped(match[3] or ""))[: None if match[3] else -1]
        for match in map(_FILE.match, _lines(text))
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
            # LLVM writes where the line was inlined to into the comment, with the file's name only.
            for name, line, column in _COMMENTED.findall(match.string):
                if len(by_name[name]) == 1 and line != "0":
                    yield Frame(next(iter(by_name[name])), int(line), int(column))

    lines: list[str] = []
    chains: list[Chain] = []
    chain: Chain = ()
    in_debug, in_braces = False, False
    for row in _lines(text):
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
    """What ``nvdisasm`` prints, with or without ``-gi``, or ``cuobjdump -sass``."""
    lines: list[str] = []
    chains: list[Chain] = []
    chain: Chain = ()
    inlined = False
    for row in _lines(text):
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


#: By the name of a language, which is also what the page colours it as; a stage of that name gives text in it.
LANGUAGES: dict[str, Callable[[str], Located]] = {
    "mlir": split_mlir,
    "ttir": split_mlir,
    "ttgir": split_mlir,
    "llvm": split_llvm,
    "ptx": split_assembly,
    "amdgcn": split_assembly,
    "sass": split_sass,
    "python": _plain,
}
