# SPDX-License-Identifier: Apache-2.0
"""``triton-ext doctor``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from ..authoring.checks import Row
from ..authoring.doctor import build_selftest, examine
from ..support.console import print_table


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def doctor(as_json: bool) -> None:
    """Check everything that building and using extensions needs, and print a fix for each problem."""
    build_selftest()
    rows = examine()
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _print(rows)
    if any(row.state == "fail" for row in rows):
        sys.exit(1)


def _print(rows: list[Row]) -> None:
    from rich.table import Table
    from rich.text import Text

    marks = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}
    table = Table(box=None, pad_edge=False)
    for heading, no_wrap in (("", True), ("", True), ("wanted", True), ("found", False), ("fix", False)):
        table.add_column(heading, no_wrap=no_wrap)
    for row in rows:
        mark, colour = marks[row.state]
        # Text, because the findings may contain square brackets, which are markup in a str.
        cells = (Text(row.name), Text(row.wanted), Text(row.found, overflow="fold"), Text(row.fix, "bold"))
        table.add_row(Text(mark, colour), *cells)
    print_table(table)
