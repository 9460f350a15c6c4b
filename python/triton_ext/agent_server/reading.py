# SPDX-License-Identifier: Apache-2.0
"""The tools that show the IR and the assembly of a kernel, and how a pipeline or a pass changes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..compilation import locations
from ..compilation.records import Compilation
from ..pipeline.inspection import Level
from ..support.diff import diff
from .answers import Answer, FailedError
from .requested import Asked, compiled, pipeline_of

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
#: Lines that are shown if neither a range nor a pattern is given.
_FIRST = 200


def read_ir(
    asked: Mapping[str, Any],
    *,
    what: str,
    after: str | None,
    lines: str | None,
    pattern: str | None,
    context: int,
) -> Answer:
    """Returns lines of the output of a stage, or of the module after a pass."""
    wanted = Asked(**asked)
    request = wanted.request()
    product, record = compiled(request, wanted.edits(), Level.IR if after else Level.SUMMARY)
    text = _after(record, what, after)[1] if after else _output(product, what)
    found = text.splitlines()
    chosen = _chosen(found, lines, pattern, context)
    width = len(str(len(found)))
    body, last = [], None
    for index in chosen:
        if last is not None and index > last + 1:
            body.append("...")
        body.append(f"{index + 1:>{width}}  {found[index]}")
        last = index
    title = f"{what} after {after}" if after else what
    head = f"{title}, {len(found):,} lines"
    if pattern is not None:
        head += f", of which {len([i for i in chosen if re.search(pattern, found[i])]):,} match {pattern!r}"
    note = []
    if lines is None and pattern is None and len(found) > _FIRST:
        note = [
            f"[... lines {_FIRST + 1}-{len(found)} left out; ask for lines='{_FIRST + 1}-{2 * _FIRST}', or a pattern]"
        ]
    return Answer(
        "\n".join([head, "", *body, *note]),
        figures={"lines": len(found), "shown": len(chosen)},
        rest="ask for a smaller range with lines='FIRST-LAST', or for a pattern",
    )


def _chosen(found: Sequence[str], lines: str | None, pattern: str | None, context: int) -> list[int]:
    """Returns the indices of the lines in the range `lines` that match `pattern`, with those around them."""
    first, last = 1, len(found)
    if lines is not None:
        match = _RANGE.fullmatch(lines.strip())
        if match is None:
            raise FailedError("input error", f"lines={lines[:40]!r}: expected a range", fix="lines='120-180'")
        first, last = int(match[1]), int(match[2] or match[1])
    elif pattern is None:
        last = min(last, _FIRST)
    inside = range(max(first, 1) - 1, min(last, len(found)))
    if pattern is None:
        return list(inside)
    try:
        regex = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise FailedError("input error", f"pattern: {error}", fix="a regular expression of Python") from None
    near = {j for i in inside if regex.search(found[i]) for j in range(i - context, i + context + 1)}
    return sorted(near & set(range(len(found))))


def _output(product: Any, what: str) -> str:
    """Returns the output `what` of a stage without locations."""
    outputs = [name for name in product.asm if name != "source"]
    text = None
    if what in outputs or what == "sass":
        try:
            text = product.asm[what]
        except (KeyError, OSError, RuntimeError) as error:
            raise FailedError("input error", f"there is no {what} here: {error}") from None
    if not isinstance(text, str):
        there = [name for name in outputs if isinstance(product.asm[name], str)]
        more = ["sass"] if "cubin" in outputs else []
        kind = "is a binary" if isinstance(text, bytes) else "is not an output of a stage"
        raise FailedError("input error", f"'{what[:40]}' {kind}; there is: {', '.join(there + more)}")
    return locations.split(text, locations.language_of(what, text)).text


def _after(record: Compilation, stage: str, name: str) -> tuple[str, str]:
    """Returns the module before and after a pass, without locations.

    Args:
        record: the compilation, with IR.
        stage: the stage of the pass.
        name: the pass as tables and edits name it, with or without its group, e.g. ``ttgpuir.coalesce`` or ``cse#2``.
    """
    found = next((each for each in record.stages if each.name == stage), None)
    if found is None:
        there = ", ".join(each.name for each in record.stages if each.passes)
        raise FailedError("input error", f"no stage '{stage[:40]}'; there is: {there}")
    wanted, _, number = name.partition("#")
    language = "llvm" if stage == "llvm" else "mlir"
    before, seen = found.source or "", 0
    for entry in found.passes:
        if not entry.ran:
            continue
        now = entry.ir if entry.ir is not None else before
        if entry.name == wanted or entry.name.rpartition(".")[2] == wanted:
            seen += 1
            if seen == (int(number) if number.isdecimal() and len(number) < 5 else 1):
                return locations.split(before, language).text, locations.split(now, language).text
        before = now
    there = ", ".join(dict.fromkeys(entry.name for entry in found.passes if entry.ran))
    raise FailedError("input error", f"no pass '{name[:60]}' ran in {stage}; there ran: {there or 'none'}")


def diff_ir(
    asked: Mapping[str, Any],
    *,
    what: str,
    after: str | None,
    against: str,
    context: int,
) -> Answer:
    """Returns how one pass changes the module, or how two pipelines differ in the output of a stage."""
    wanted = Asked(**asked)
    request = wanted.request()
    edits = wanted.edits()
    if after:
        _, record = compiled(request, edits, Level.IR)
        old, new = _after(record, what, after)
        title = f"{what}: before and after {after}"
    else:
        other = pipeline_of(against, wanted.root)
        old = _output(compiled(request, other, Level.SUMMARY)[0], what)
        new = _output(compiled(request, edits, Level.SUMMARY)[0], what)
        title = f"{what}: - {str(other) or 'no edits'}, + {str(edits) or 'no edits'}"
    lines, removed, added = unified(old.splitlines(), new.splitlines(), context)
    return Answer(
        "\n".join([f"{title}: {removed} lines removed, {added} added", "", *lines]),
        figures={"removed": removed, "added": added},
        rest="ask for context=0, or read the places with read_ir",
    )


def unified(old: Sequence[str], new: Sequence[str], context: int) -> tuple[list[str], int, int]:
    """Returns a unified difference, and how many lines are removed and added."""
    shown: list[tuple[str, str, int, int, bool]] = []  # mark, text, old and new line number, whether it is shown
    removed = added = 0
    for is_equal, a, a_end, b, b_end in diff(old, new):
        if is_equal:
            last = a_end - a
            for i in range(last):
                is_near = (i < context and a + b > 0) or (
                    i >= last - context and (a_end, b_end) != (len(old), len(new))
                )
                shown.append((" ", old[a + i], a + i + 1, b + i + 1, is_near))
            continue
        removed, added = removed + a_end - a, added + b_end - b
        shown += [("-", line, a + i + 1, b + 1, True) for i, line in enumerate(old[a:a_end])]
        shown += [("+", line, a_end + 1, b + i + 1, True) for i, line in enumerate(new[b:b_end])]
    return list(_with_heads(shown)), removed, added


def _with_heads(shown: Sequence[tuple[str, str, int, int, bool]]) -> Iterator[str]:
    follows = False
    for mark, text, old, new, is_near in shown:
        if is_near:
            if not follows:
                yield f"@@ -{old} +{new} @@"
            yield mark + text
        follows = is_near
