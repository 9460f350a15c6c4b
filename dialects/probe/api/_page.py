# SPDX-License-Identifier: Apache-2.0
"""A `Profile` as one HTML page without scripts: the source of the kernels, with the numbers of each line beside it."""

from __future__ import annotations

import html
import io
import keyword
import linecache
import tokenize
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton_ext.tracing.page import filled, style

from . import _lines

if TYPE_CHECKING:
    from ._profile import Profile

_ASSETS = Path(__file__).parent
#: How many lines without numbers are shown around one with numbers.
_AROUND = 6
_SCALED = (*_lines.BYTES, "calls", "iterations", "nans", "time")


def page(profile: Profile) -> str:
    """Returns the text of the page."""
    shown = [name for name in _lines.NUMBERS if profile.lines[name].any()]
    rows = profile.lines
    parts = {
        "title": html.escape(Path(profile.program[0]).name),
        "program": html.escape(" ".join(profile.program)),
        "facts": "".join(f"<span>{html.escape(fact)}</span>" for fact in _facts(profile)),
        "style": style() + (_ASSETS / "page.css").read_text(encoding="utf-8"),
        "hottest": _table(profile),
        "files": "".join(_file(rows[rows["file"] == file], file, shown) for file in dict.fromkeys(rows["file"])),
    }
    return filled((_ASSETS / "page.html").read_text(encoding="utf-8"), parts)


def _facts(profile: Profile) -> Iterator[str]:
    yield f"{profile.seconds:.2f} s with probes"
    if profile.status:
        yield f"exit status {profile.status}"
    kernels = sorted(set(profile.lines["kernel"]))
    yield f"kernels: {', '.join(kernels)}" if kernels else "no kernel was launched"
    for name in _lines.BYTES:
        if profile.lines[name].any():
            yield f"{name} {int(profile.lines[name].sum()):,} bytes"


def _table(profile: Profile) -> str:
    """The hottest lines, as links to the source."""
    measure, values = profile.measure(None)
    total = int(values.sum())
    body = []
    for value, row in sorted(zip(values, profile.lines, strict=True), key=lambda one: -one[0])[:8]:
        if value:
            # The time of a loop includes that of other lines, so it has no share.
            shown = f"{value:,}" if measure == "time" else f"{value / total:.1%}"
            place = f"{html.escape(Path(row['file']).name)}:{row['line']}"
            body.append(
                f"<tr><td><a href='#{_anchor(row['file'], row['line'])}'>{place}</a></td>"
                f"<td class='number'>{shown}</td><td class='code'>{_colored(str(row['source']))}</td></tr>"
            )
    head = f"<tr><th>line</th><th class='number'>{_head(measure)}</th><th>source</th></tr>"
    return f"<table class='hottest'>{head}{''.join(body)}</table>" if body else ""


def _file(rows: Any, file: str, shown: list[str]) -> str:
    """The source of one file around the lines that have numbers."""
    largest = {name: int(rows[name].max()) or 1 for name in shown}
    by_line = {int(row["line"]): row for row in rows}
    near = {k for line in by_line for k in range(line - _AROUND, line + _AROUND + 1)}
    source = linecache.getlines(file)
    body, before = [], 0
    for line in sorted(k for k in near if 1 <= k <= max(len(source), *by_line)):
        if line > before + 1:
            body.append(f"<tr class='gap'><td colspan='{len(shown) + 2}'>⋯</td></tr>")
        before = line
        row = by_line.get(line)
        cells = "".join(_cell(name, row, largest[name]) for name in shown)
        text = source[line - 1].rstrip("\n") if line <= len(source) else ""
        marked = " class='has'" if row is not None else ""
        body.append(
            f"<tr id='{_anchor(file, line)}'{marked}>{cells}<td class='at'>{line}</td>"
            f"<td class='code'>{_colored(text)}</td></tr>"
        )
    head = "".join(f"<th class='number'>{_head(name)}</th>" for name in shown)
    return (
        f"<section><h2 title='{html.escape(file, quote=True)}'>{html.escape(file)}</h2><div class='wide'>"
        f"<table class='source'><tr>{head}<th></th><th></th></tr>{''.join(body)}</table></div></section>"
    )


def _cell(name: str, row: Any, largest: int) -> str:
    value = int(row[name]) if row is not None else 0
    if not value:
        return "<td class='number'></td>"
    if name == "off":
        lanes = int(row["lanes"])
        share = f"{value / lanes:.1%}"
        return f"<td class='number' title='{value:,} of {lanes:,} lanes'><i style='width:{share}'></i>{share}</td>"
    bar = f"<i style='width:{value / largest:.1%}'></i>" if name in _SCALED else ""
    return f"<td class='number'>{bar}{value:,}</td>"


def _head(name: str) -> str:
    return "time ns" if name == "time" else name


def _anchor(file: str, line: int) -> str:
    return f"{zlib.crc32(file.encode()):08x}-{line}"


def _colored(text: str) -> str:
    """Returns a line of Python as HTML: its tokens have the classes of the trace's page.

    Text that Python's tokenizer refuses is only escaped.
    """
    spans = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}.get(token.type)
            if token.type == tokenize.NAME and keyword.iskeyword(token.string):
                kind = "k"
            if kind and token.start[0] == token.end[0] == 1:
                spans.append((token.start[1], token.end[1], kind))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a line of a longer statement; what was found before its end is kept
    out, at = [], 0
    for start, end, kind in spans:
        out.append(f"{html.escape(text[at:start])}<span class='{kind}'>{html.escape(text[start:end])}</span>")
        at = end
    return "".join(out) + html.escape(text[at:])
