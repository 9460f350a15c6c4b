# SPDX-License-Identifier: Apache-2.0
"""Prints tables: on a terminal as wide as the terminal, elsewhere in full width."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

_NO_LIMIT = 1_000_000  # columns


def print_table(table: Table) -> None:
    """Prints `table`; in a pipe or a file, each row is one line, however long it is."""
    from rich.console import Console

    if (console := Console()).is_terminal:
        console.print(table)
        return
    text = io.StringIO()
    Console(file=text, width=_NO_LIMIT, color_system=None).print(table)
    click.echo("\n".join(line.rstrip() for line in text.getvalue().splitlines()))
