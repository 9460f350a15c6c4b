# SPDX-License-Identifier: Apache-2.0
"""Renders recorded compilations as tables, differences and listings."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..pipeline.listing_form import CUT, entry_text
from ..pipeline.records import PassRecord, StageRecord
from ..support.diff import diff

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from .records import Compilation


def plain(compilation: Compilation, width: int = 160) -> str:
    """Returns `table` as text without colours, `width` columns wide."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(table(compilation))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def table(compilation: Compilation) -> RenderableType:
    """Returns a table with a row for each pass, grouped by stage."""
    from rich.console import Group
    from rich.markup import escape

    head = f"[bold]{escape(compilation.kernel)}[/] for {compilation.target}, Triton {compilation.triton}, "
    head += f"{compilation.seconds * 1e3:,.0f} ms"
    edits = f"pipeline  [cyan]{escape(compilation.pipeline)}[/]" if compilation.pipeline else "no edits"
    rows = _columns()
    for stage in compilation.stages:
        _add_stage(rows, stage)
    return Group(head, edits, "", rows)


def _columns() -> Table:
    from rich.table import Table

    rows = Table(box=None, pad_edge=False, header_style="bold")
    rows.add_column("stage")
    for name in ("#", "ms"):
        rows.add_column(name, justify="right")
    rows.add_column("ops", justify="right", no_wrap=True)
    rows.add_column("changed", no_wrap=True)
    rows.add_column("pass and arguments", overflow="fold")
    return rows


def _add_stage(rows: Table, stage: StageRecord) -> None:
    from rich.markup import escape

    rows.add_row(f"[bold]{stage.name}[/]", "", f"[bold]{stage.seconds * 1e3:.1f}[/]", "", "", "")
    position = 0
    for record in stage.passes:
        text = escape(entry_text(record))
        if record.edit:
            text += f"\n  [cyan]{'dropped by' if not record.ran else 'by'} {escape(record.edit)}[/]"
        if not record.ran:
            rows.add_row("", "", "", "", "", f"[dim]{text}[/]")
            continue
        position += 1
        text += "".join(f"\n  [dim]{escape(remark)}[/]" for remark in record.remarks)
        ops = str(record.ops_after)
        if record.ops_before != record.ops_after:
            ops = f"{record.ops_before} → {ops}"
        mark = "[green]yes[/]" if record.changed else "[dim]no[/]"
        rows.add_row("", str(position), f"{record.seconds * 1e3:.2f}", ops, mark, text)


def difference(before: Compilation, after: Compilation) -> Iterator[tuple[str, str]]:
    """Yields the differences between two compilations as lines with a mark.

    The marks are ``@`` for a stage, ``-`` for a pass of `before` alone, ``+`` for one of `after` alone, ``~`` for a
    pass of both after which the modules have different sizes, and a blank for other passes of both.
    """
    stages = {s.name: s for s in before.stages}
    for stage in after.stages:
        old = [r for r in stages[stage.name].passes if r.ran] if stage.name in stages else []
        new = [r for r in stage.passes if r.ran]
        if not old and not new:
            continue
        yield "@", stage.name
        old_texts, new_texts = [entry_text(r) for r in old], [entry_text(r) for r in new]
        for is_equal, a, a_end, b, b_end in diff(old_texts, new_texts):
            if is_equal:
                yield from (_compared(x, y) for x, y in zip(old[a:a_end], new[b:b_end], strict=True))
            else:
                yield from (("-", text) for text in old_texts[a:a_end])
                yield from (("+", text) for text in new_texts[b:b_end])


def _compared(before: PassRecord, after: PassRecord) -> tuple[str, str]:
    text = entry_text(after)
    if before.ops_after == after.ops_after:
        return " ", text
    return "~", f"{text}  ({before.ops_after} → {after.ops_after} ops after it)"


def listing(compilation: Compilation, without_edits: Compilation) -> str:
    """Returns both compilations of one kernel as a listing, which ``Pipeline.parse`` reads."""
    head = (
        f"# {compilation.kernel} for {compilation.target}, Triton {compilation.triton}.\n"
        "# Delete, move, change or add lines, then: TRITON_EXT_PIPELINE=@FILE python train.py\n"
    )
    return f"{head}{_stages_text(compilation)}\n{CUT}\n{_stages_text(without_edits)}"


def _stages_text(compilation: Compilation) -> str:
    blocks = []
    for stage in compilation.stages:
        entries = [f"  {entry_text(record)}\n" for record in stage.passes if record.ran]
        if entries:
            blocks.append(f"{stage.name}:\n{''.join(entries)}")
    return "\n".join(blocks)
