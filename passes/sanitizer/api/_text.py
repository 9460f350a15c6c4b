# SPDX-License-Identifier: Apache-2.0
"""Findings as text, in the shape of compilers' messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import _source
from ._finding import SEVERITIES, Finding
from ._verdicts import KINDS, Verdict


def report(findings: Sequence[Finding], accesses: Sequence[Verdict]) -> str:
    """Returns the findings and a summary as lines of text."""
    return "\n\n".join([*map(finding_text, findings), summary(findings, accesses)])


def summary(findings: Sequence[Finding], accesses: Sequence[Verdict]) -> str:
    """Returns one line: how many findings there are, and how many accesses were proved, checked or unsupported."""
    severities = Counter(one.severity for one in findings)
    parts = [_plural(severities[kind], kind) for kind in SEVERITIES if severities[kind]]
    kernels = len({one.kernel for one in findings})
    head = f"{', '.join(parts)} in {_plural(kernels, 'kernel')}" if findings else "nothing found"
    verdicts = Counter(one.verdict for one in accesses)
    checked = ", ".join(f"{verdicts[kind]} {kind}" for kind in KINDS)
    return f"sanitize: {head}; accesses: {checked}"


#: The parts of lines that have a colour in a terminal, and the numbers of its escape sequence.
_COLOURS = (
    (r"^error(?=\[)", "1;31"),
    (r"^warning(?=\[)", "1;33"),
    (r"^note(?=\[)", "1;36"),
    (r"^ *\d* *(?:-->|\|)(?= |$)", "34"),
    (r"(?<=[ \t])\^+$", "1;31"),
    (r"^ *= \w+:", "34"),
    (r"^sanitize:", "1"),
)


def coloured(text: str) -> str:
    """Returns lines of `report` with the escape sequences of colours for a terminal."""
    return "\n".join(map(_coloured, text.split("\n")))


def _coloured(line: str) -> str:
    for pattern, codes in reversed(_COLOURS):  # those at the end of a line first
        line = re.sub(pattern, lambda found, codes=codes: f"\x1b[{codes}m{found[0]}\x1b[0m", line)  # type: ignore[misc]
    return line


def finding_text(finding: Finding) -> str:
    """Returns a finding as lines of text: message, place, source line with a caret, and what is known."""
    lines = [f"{finding.severity}[{finding.check}]: {finding.message}"]
    start, end = _source.span_of(finding.file, finding.line, finding.column)
    place = f"{_shown(finding.file)}:{finding.line}" + (f":{start}" if finding.column else "")
    number = str(finding.line or "")
    margin = " " * len(number)
    lines.append(f"{margin}--> {place if finding.file else 'unknown place'}, in {finding.kernel}")
    if text := _source.text_of(finding.file, finding.line):
        caret = "".join("\t" if c == "\t" else " " for c in text[: start - 1]) + "^" * max(end - start, 1)
        lines += [f"{margin} |", f"{number} | {text}", f"{margin} | {caret}"]
    lines += [f"{margin} = {fact}" for fact in _facts(finding)]
    return "\n".join(lines)


def _facts(finding: Finding) -> Iterator[str]:
    if finding.shape is not None:
        shape = ", ".join(map(str, finding.shape))
        strides = ", ".join(map(str, finding.strides or ()))
        yield f"tensor: {finding.argument}: {finding.dtype}[{shape}], strides ({strides})"
    if finding.coordinates is not None:
        yield f"index: {finding.argument}[{', '.join(map(str, finding.coordinates))}]"
    elif finding.address is not None:
        yield f"address: {finding.address:#x}"
    if finding.program is not None:
        lane = f", lane {finding.lane}" if finding.lane is not None and finding.lane >= 0 else ""
        yield f"first: program ({', '.join(map(str, finding.program))}){lane}"
    if finding.lanes:
        at_least = "at least " if finding.at_least else ""
        programs = f" in {at_least}{_plural(finding.programs, 'program')}" if finding.programs else ""
        yield f"count: {'' if finding.counted else 'at least '}{_plural(finding.lanes, 'lane')}{programs}"
    if finding.values:
        yield "values: " + ", ".join(f"{name} = {_value(value)}" for name, value in finding.values.items())
    for file, line, what in finding.related:
        text = _source.text_of(file, line).strip()
        yield f"also: {what}: {_shown(file)}:{line}" + (f": {text}" if text else "")
    if finding.suggestion:
        yield f"help: {finding.suggestion}"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _shown(file: str) -> str:
    """Returns a path relative to the current directory, if it lies in it."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file
