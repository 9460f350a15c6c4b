# SPDX-License-Identifier: Apache-2.0
"""``triton-ext list``."""

from __future__ import annotations

import json

import click

from ..backends import listed
from ..loading.discovery import Extension
from ..loading.foreign_plugins import forget_slow_plugins
from ..support.console import print_table


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option("--retry", is_flag=True, help="Load plugins again that took too long to load before.")
def list_extensions(as_json: bool, retry: bool) -> None:
    """List every extension that is found, and the problem of each that cannot be used."""
    if retry:
        forget_slow_plugins()
    found = listed()
    if as_json:
        click.echo(json.dumps([_fields(e) for e in found], indent=2))
        return
    from rich.table import Table

    table = Table("extension", "kind", "stage", "target", "version", "origin", "state", box=None, pad_edge=False)
    for e in found:
        state = f"[red]broken: {_plain(e.problem)}" if e.problem else "[green]ok"
        table.add_row(*map(_plain, (e.name, e.kind, e.stage or "", " ".join(e.targets), e.version, e.origin)), state)
    if found:
        print_table(table)
    else:
        click.echo("no extensions found (fix: triton-ext build)")


def _plain(text: str) -> str:
    """Returns `text` so that rich prints it unchanged on one line: a path may contain markup and control characters."""
    from rich.markup import escape

    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def _fields(extension: Extension) -> dict[str, object]:
    manifest, plugin = extension.manifest, extension.plugin
    return {
        "name": extension.name,
        "kind": extension.kind,
        "stage": extension.stage,
        "targets": extension.targets,
        "version": extension.version,
        "origin": extension.origin,
        "path": str(extension.path),
        "problem": extension.problem,
        "passes": plugin.passes if plugin else [],
        "dialects": plugin.dialects if plugin else [],
        "ops": plugin.ops if plugin else [],
        "summary": manifest.summary if manifest else "",
        "options": [vars(option) for option in manifest.options] if manifest else [],
    }
