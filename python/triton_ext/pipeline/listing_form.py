# SPDX-License-Identifier: Apache-2.0
"""Reads the listing of a compilation that ``triton-ext pipeline show --text`` prints, after it was changed by hand.

The lower part of a listing is the pipeline without edits. The differences between upper and lower part become edits.
So a changed listing also applies to a Triton that runs further passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..errors import PipelineError
from ..support.diff import diff
from .records import PassRecord

CUT = "--- below: the pipeline without edits. Leave it alone; what differs from it becomes edits ---"
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|(?:^|(?<=\s))#.*')
_OPTION = re.compile(r"([\w-]+)(?:=(\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\}|[^\s\"]*))?\s*")


def entry_text(record: PassRecord) -> str:
    """Returns one line of a listing, e.g. ``ttgpuir.pipeline{num-stages=3 dump-intermediate-steps=false}``."""
    named = not record.name.startswith("plugin.")
    inner = " ".join(f"{n.replace('_', '-')}={v}" if named else n for n, v in record.arguments)
    return record.name + ("{" + inner + "}" if inner else "")


def options_in(text: str) -> dict[str, str]:
    """Returns the options in `text`, ``name=value`` with blanks between them; a name alone has the value ``true``.

    Raises:
        PipelineError: the text is malformed, or gives an option twice.
    """
    values: dict[str, str] = {}
    at, text = 0, text.strip()
    while at < len(text):
        match = _OPTION.match(text, at)
        if match is None:
            raise PipelineError(f"malformed options '{{{text}}}', expected {{name=value name=value}}")
        at, name = match.end(), match[1].replace("-", "_")
        if name in values:
            raise PipelineError(f"option '{match[1]}' is given twice")
        values[name] = match[2] if match[2] is not None else "true"
    return values


def edits_of_listing(text: str) -> str:
    """Returns the edits of a listing as text; returns `text` unchanged if it is not a listing.

    Raises:
        PipelineError: the listing is malformed.
    """
    lines = text.splitlines()
    cuts = [i for i, line in enumerate(lines) if line.startswith("--- ")]
    if not cuts:
        return text
    edited, base = _read_stages(lines[: cuts[0]]), _read_stages(lines[cuts[0] + 1 :])
    for stage in edited:
        if stage not in base:
            raise PipelineError(
                f"pipeline listing: stage '{stage}' is not in its lower part, which has {', '.join(base)}"
            )
    blocks = []
    for stage, entries in base.items():
        edits = list(_difference(entries, edited.get(stage, entries)))
        if edits:
            blocks.append(f"{stage}: {', '.join(edits)}")
    return ";\n".join(blocks)


def _read_stages(lines: list[str]) -> dict[str, list[str]]:
    stages: dict[str, list[str]] = {}
    entries: list[str] | None = None
    for number, line in enumerate(lines, 1):
        content = _COMMENT.sub(lambda match: match[1] or "", line).strip()
        if not content:
            continue
        if re.fullmatch(r"\w+:", content):
            entries = stages.setdefault(content[:-1], [])
        elif entries is None:
            raise PipelineError(f"pipeline listing, line {number}: expected a stage such as 'ttir:', found '{content}'")
        else:
            entries.append(content)
    return stages


def _difference(base: list[str], edited: list[str]) -> Iterator[str]:
    """Yields the edits that turn the list of passes `base` into `edited`."""
    names = [_name(entry) for entry in base]
    total, count = Counter(names), Counter[str]()
    anchors = []
    for name in names:
        count[name] += 1
        anchors.append(f"{name}#{count[name]}" if total[name] > 1 else name)
    for a, a_end, b, b_end in (block[1:] for block in diff(base, edited) if not block[0]):
        old, new = list(range(a, a_end)), edited[b:b_end]
        while old and new and names[old[0]] == _name(new[0]):
            yield from _changed(anchors[old[0]], base[old[0]], new[0])
            old, new = old[1:], new[1:]
        for i in old:
            yield f"skip({anchors[i]})"
        place = old[0] if old else a_end
        if new and place:
            yield f"after({anchors[place - 1]}, {', '.join(new)})"
        elif new:
            yield f"before({anchors[0]}, {', '.join(new)})" if anchors else f"at_start({', '.join(new)})"


def _name(entry: str) -> str:
    return entry.partition("{")[0].rstrip()


def _changed(anchor: str, old: str, new: str) -> Iterator[str]:
    """Yields the edit that turns `old` into `new`, a pass with the same name and other options."""
    before, after = (options_in(entry.partition("{")[2].removesuffix("}")) for entry in (old, new))
    arguments = [f"{name}={value}" for name, value in after.items() if before.get(name) != value]
    if arguments and before.keys() == after.keys():
        yield f"set({anchor}, {', '.join(arguments)})"
    elif old != new:
        yield f"replace({anchor}, {new})"
