# SPDX-License-Identifier: Apache-2.0
"""``triton-ext passes``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ..authoring.catalogue import GROUPS, catalogue, option_text
from ..authoring.taxonomy import TAXONOMY
from ..pipeline.extension_passes import STAGES


@click.command("passes")
@click.option("--stage", type=click.Choice(STAGES), help="List only the passes that Triton runs in this stage.")
@click.option("--group", type=click.Choice(GROUPS), help="List only the passes of this group.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def passes(stage: str | None, group: str | None, as_json: bool) -> None:
    """List every pass that triton-ext-opt and pipelines can name."""
    found = [p for p in catalogue() if (not stage or stage in p.stages) and (not group or group == p.group)]
    if as_json:
        click.echo(json.dumps([asdict(p) for p in found], indent=2))
        return
    for name in GROUPS:
        members = [p for p in found if p.group == name]
        if members:
            click.secho(name, bold=True)
        for member in members:
            click.echo(f"  {member.argument}".ljust(52) + f" {member.summary}")
            for option in member.options:
                click.echo(f"      {option_text(option)}".ljust(52) + f" {option.description}")
    changed = [e for e in TAXONOMY if e.note and not stage and group in (None, e.group)]
    if changed:
        click.secho("no pass of their own any more", bold=True)
    for entry in changed:
        click.echo(f"  {entry.group} {entry.name}".ljust(52) + f" {', '.join(entry.arguments)}: {entry.note}")
