# SPDX-License-Identifier: Apache-2.0
"""``triton-ext pipeline`` and ``triton-ext run``."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..errors import PipelineError, TritonExtError

if TYPE_CHECKING:
    from ..compilation.requests import Job
    from ..pipeline.pipeline import Pipeline

PIPELINE_HELP = "Edits as text, e.g. 'ttgir: skip(prefetch)', or @FILE."


def kernel_options(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options that say what to compile; `command` takes it as a `Job` and a `Pipeline`."""

    @functools.wraps(command)
    def with_job(  # noqa: PLR0917 - one for each option
        kernel: str,
        signature: str | None,
        target: str | None,
        num_warps: int | None,
        num_stages: int | None,
        more: tuple[str, ...],
        pipeline: str | None,
        **others: object,
    ) -> None:
        from ..compilation.requests import job

        # What Triton 3.9 does when it is unset, after a warning.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        task = job(kernel, target, signature, backend_options(num_warps, num_stages, more))
        command(task, parse_pipeline(pipeline), **others)

    decorators = [
        click.argument("kernel", metavar="FILE.py:KERNEL|FILE.ttir"),
        click.option(
            "-s", "--signature", help='Type or value of each argument, e.g. "*fp16:16, i32, 64"; :16 aligned.'
        ),
        click.option("-t", "--target", help="E.g. cuda:90, cuda:80, hip:gfx942. Default: the GPU of this machine."),
        click.option("-w", "--num-warps", type=click.IntRange(1), help="Warps of a program."),
        click.option("-n", "--num-stages", type=click.IntRange(0), help="Stages of the software pipeline."),
        click.option(
            "-o", "--option", "more", multiple=True, metavar="NAME=VALUE", help="Another option of the backend."
        ),
        click.option("-p", "--pipeline", help=PIPELINE_HELP),
    ]
    for decorator in reversed(decorators):
        decorator(with_job)
    return with_job


def backend_options(num_warps: int | None, num_stages: int | None, more: tuple[str, ...]) -> dict[str, object]:
    """The options of the backend that the command line gives."""
    options: dict[str, object] = {}
    for item in more:
        name, equals, value = item.partition("=")
        if not equals:
            raise TritonExtError(f"option '{item}': expected NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    given = {"num_warps": num_warps, "num_stages": num_stages}
    return options | {name: value for name, value in given.items() if value is not None}


def parse_pipeline(text: str | None) -> Pipeline:
    """The `Pipeline` of a command-line option; an empty one for none."""
    from ..pipeline.pipeline import Pipeline
    from ..pipeline.text_form import read

    return Pipeline.parse(read(text)) if text else Pipeline()


@click.group()
def pipeline() -> None:
    """Look at the pass pipeline of a kernel, with or without edits."""


@pipeline.command()
@kernel_options
@click.option(
    "--diff", metavar="PIPELINE", is_flag=False, flag_value="", help="Compare with another pipeline; default: none."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option("--text", "as_text", is_flag=True, help="Print a listing to edit and to run with.")
def show(task: Job, edits: Pipeline, diff: str | None, as_json: bool, as_text: bool) -> None:
    r"""Compile KERNEL and show every pass that ran.

    Nothing is launched, so no GPU is needed. The listing of --text can be changed and given back with --pipeline @FILE,
    or to any program with TRITON_EXT_PIPELINE=@FILE.

    \b
    triton-ext pipeline show kernels.py:matmul -s "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" -t cuda:90
    triton-ext pipeline show kernels.py:matmul -s ... -t hip:gfx942 -p "ttgir: skip(pipeline)" --diff
    """
    from ..compilation.describe import compile_observed
    from ..pipeline.inspection import Level

    if as_json + as_text + (diff is not None) > 1:
        raise click.UsageError("--diff, --json and --text exclude each other")
    compiled = compile_observed(task, Level.SUMMARY, edits)
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(compiled), indent=2))
    elif as_text:
        from ..pipeline.text_form import listing

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
    """Check TEXT, or @FILE, and print the edits that it means: of a listing, what was changed in it."""
    for edit in parse_pipeline(text).edits:
        click.echo(edit)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-p", "--pipeline", help=PIPELINE_HELP)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(pipeline: str | None, command: tuple[str, ...]) -> None:
    r"""Run COMMAND with a pipeline applied to every kernel that it compiles, in its child processes as well.

    \b
    triton-ext run -p "ttgir: set(ttgpuir.pipeline, num_stages=4)" -- python train.py
    """
    if pipeline is not None:
        parse_pipeline(pipeline)
        if pipeline.startswith("@"):
            pipeline = "@" + os.path.abspath(pipeline[1:])
        os.environ["TRITON_EXT_PIPELINE"] = pipeline
    if os.environ.get("TRITON_BACKENDS_IN_TREE") == "1":
        raise PipelineError("TRITON_BACKENDS_IN_TREE=1 keeps Triton from finding triton-ext", fix="unset it")
    program = shutil.which(command[0])
    if program is None:
        raise TritonExtError(f"no such command: {command[0]}")
    os.execv(program, command)
