# SPDX-License-Identifier: Apache-2.0
"""``triton-ext pipeline``."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from .kernel_options import kernel_options, parse_pipeline

if TYPE_CHECKING:
    from ..compilation.requests import KernelRequest
    from ..pipeline.pipeline import Pipeline


@click.group()
def pipeline() -> None:
    """Show the pass pipeline of a kernel, with or without edits."""


@pipeline.command()
@kernel_options
@click.option(
    "--diff",
    metavar="PIPELINE",
    is_flag=False,
    flag_value="",
    help="Compare with this pipeline; without a value, with the one that has no edits.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option("--text", "as_text", is_flag=True, help="Print a listing that can be edited and given to --pipeline.")
def show(task: KernelRequest, edits: Pipeline, diff: str | None, as_json: bool, as_text: bool) -> None:
    """Compile KERNEL and show every pass that ran.

    The kernel is not launched, so no GPU is needed. Change the listing that --text prints and give it back with
    --pipeline @FILE, or to any program with TRITON_EXT_PIPELINE=@FILE.

    \b
    triton-ext pipeline show kernels.py:matmul -s "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" -t cuda:90
    triton-ext pipeline show kernels.py:matmul -s ... -t hip:gfx942 -p "ttgir: skip(pipeline)" --diff
    """  # noqa: D301 - click reads a backspace
    from ..compilation.describe import compile_observed
    from ..pipeline.inspection import Level

    if as_json + as_text + (diff is not None) > 1:
        raise click.UsageError("--diff, --json and --text exclude each other")
    compiled = compile_observed(task, Level.SUMMARY, edits)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(compiled), indent=2))
    elif as_text:
        from ..compilation.rendering import listing

        click.echo(listing(compiled, compile_observed(task, Level.SUMMARY) if edits.edits else compiled), nl=False)
    elif diff is not None:
        _print_difference(compile_observed(task, Level.SUMMARY, parse_pipeline(diff)), compiled)
    else:
        from rich.console import Console

        from ..compilation.rendering import plain, table

        console = Console(highlight=False)
        if console.is_terminal:
            console.print(table(compiled))
        else:
            click.echo(plain(compiled), nl=False)


def _print_difference(before: Any, after: Any) -> None:
    from ..compilation.rendering import difference

    colours = {"-": "red", "+": "green", "~": "yellow"}
    for side, compiled in (("-", before), ("+", after)):
        click.secho(
            f"{side}{side}{side} {compiled.pipeline or 'no edits'}, {compiled.seconds * 1e3:,.0f} ms", bold=True
        )
    for mark, text in difference(before, after):
        click.secho(f"{text}:" if mark == "@" else f"{mark} {text}", fg=colours.get(mark), bold=mark == "@")


@pipeline.command()
@click.argument("text")
def edits(text: str) -> None:
    """Check TEXT, or @FILE, and print its edits. The edits of a listing are the changes that were made in it."""
    for edit in parse_pipeline(text).edits:
        click.echo(edit)
