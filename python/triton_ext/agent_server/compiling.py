# SPDX-License-Identifier: Apache-2.0
"""The tools that compile a kernel and show the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..compilation.records import Compilation
from ..compilation.rendering import difference, plain
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline
from ..searching.figures import figures_of
from .answers import Answer
from .requested import Asked, compiled


def describe_pipeline(asked: Mapping[str, Any]) -> Answer:
    """Returns the table of the passes that compile a kernel."""
    wanted = Asked(**asked)
    request = wanted.request()
    _, record = compiled(request, wanted.edits(), Level.SUMMARY)
    record = replace(record, target=_short(record.target))
    passes = {stage.name: sum(entry.ran for entry in stage.passes) for stage in record.stages}
    text = plain(record, 120) + (
        "\nAn edit names a pass of this table as its anchor: skip(combine), after(loop_unroll, NAME); "
        "name#2 is the second of that name in the stage.\n"
    )
    return Answer(
        text,
        figures={"target": record.target, "passes": passes},
        rest="compile_kernel shows only what a pipeline changes",
    )


def compile_kernel(asked: Mapping[str, Any]) -> Answer:
    """Compiles a kernel, and returns its resources, and what the pipeline changed."""
    wanted = Asked(**asked)
    request = wanted.request()
    edits = wanted.edits()
    product, record = compiled(request, edits, Level.SUMMARY)
    found = _resources(product)
    lines = [f"{record.kernel} for {_short(record.target)} compiled in {record.seconds * 1e3:,.0f} ms"]
    before = None
    if edits.edits:
        plain_product, plain_record = compiled(request, Pipeline(), Level.SUMMARY)
        before = _resources(plain_product)
        lines += [f"edits: {record.pipeline}", "", "passes that differ from the unedited compilation:"]
        lines += _changes(plain_record, record) or ["  none"]
        lines += ["", "stage outputs that differ: " + (", ".join(_differing(plain_product, product)) or "none")]
    lines += ["", "resources:", *_in_words(found, before), "", "stage outputs, for read_ir:"]
    lines += [f"  {name}: {_size(output)}" for name, output in product.asm.items() if name != "source"]
    if remarks := _remarks(record):
        lines += ["", "remarks:", *remarks]
    figures: dict[str, Any] = {"target": _short(record.target), "resources": found}
    if before is not None:
        figures["unedited"] = before
    return Answer("\n".join(lines), figures=figures)


def _resources(product: Any) -> dict[str, int]:
    """Returns what the binary needs; see `figures_of`."""
    found = {name: int(value) for name, value in sorted(figures_of(product).items())}
    return {"num_warps": int(product.metadata.num_warps), **found}


def _in_words(found: Mapping[str, int], before: Mapping[str, int] | None) -> list[str]:
    """Returns a line for each resource, with the value of the unedited kernel if it differs."""
    units = {"shared": "bytes of a program", "code_size": "bytes", "registers": "of a thread", "spills": "of a thread"}
    lines = []
    for name in dict.fromkeys([*found, *(before or ())]):
        old = None if before is None else before.get(name, 0)
        change = "" if old in (None, found.get(name, 0)) else f" (unedited: {old:,})"
        lines.append(f"  {name}: {found.get(name, 0):,} {units.get(name, '')}".rstrip() + change)
    return lines


def _short(target: str) -> str:
    """Returns `target` without the list of a CPU's features."""
    return target.partition(";")[0]


def _changes(before: Compilation, after: Compilation) -> list[str]:
    """Returns the lines of the difference between two tables of passes that are not in both, by stage."""
    lines: list[str] = []
    stage = ""
    for mark, text in difference(before, after):
        if mark == "@":
            stage = text
        elif mark in "+-":
            lines.append(f"  {stage}: {mark} {text}")
    return lines


def _differing(before: Any, after: Any) -> list[str]:
    return [name for name, output in after.asm.items() if before.asm.get(name) != output]


def _size(output: str | bytes) -> str:
    return f"{len(output):,} bytes" if isinstance(output, bytes) else f"{output.count(chr(10)):,} lines"


def _remarks(record: Compilation) -> list[str]:
    return [
        f"  {stage.name}, {entry.name}: {remark.strip()}"
        for stage in record.stages
        for entry in stage.passes
        for remark in entry.remarks
    ]
