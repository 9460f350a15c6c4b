# SPDX-License-Identifier: Apache-2.0
"""Prints tables for people, as wide as their terminal, and for programs, whole."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

_NO_LIMIT = 1_000_000  # columns


def print_table(table: Table) -> None:
    """Prints `table`; into a pipe or a file one line for each row, whatever the length of paths and reasons."""
    from rich.console import Console

    if (console := Console()).is_terminal:
        console.print(table)
        return
    text = io.StringIO()
    Console(file=text, width=_NO_LIMIT, color_system=None).print(table)
    click.echo("\n".join(line.rstrip() for line in text.getvalue().splitlines()))
