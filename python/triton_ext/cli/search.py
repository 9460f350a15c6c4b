# SPDX-License-Identifier: Apache-2.0
"""``triton-ext search``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import TritonExtError
from ..support.storage import write_whole

if TYPE_CHECKING:
    from ..searching.history import Trial


class _Group(click.Group):
    """A group in which ``search FILE.py:KERNEL`` stands for ``search run FILE.py:KERNEL``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Inserts ``run`` before a kernel."""
        if args and re.search(r"\.py:\w+$", args[0]):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Group)
def search() -> None:
    """Look for a better compilation of a kernel: search FILE.py:KERNEL --inputs make_inputs --budget 10m."""
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


@search.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("--inputs", metavar="NAME", help="A function of FILE that makes or yields arguments by name.")
@click.option(
    "--grid", default="grid", show_default=True, metavar="NAME", help="The grid in FILE, or a function of it."
)
@click.option(
    "--compile-only",
    is_flag=True,
    help="Compile candidates without running them: objectives are figures of the binary.",
)
@click.option(
    "-s", "--signature", help='With --compile-only: type or value of each argument, e.g. "*fp16:16, i32, 64".'
)
@click.option("--reference", metavar="NAME", help="A function of FILE that returns what arguments have to hold.")
@click.option("--budget", default="10m", show_default=True, help="How long to search, e.g. 90s, 10m or 2h.")
@click.option("--trials", type=click.IntRange(1), help="How many candidates to try at most.")
@click.option("-t", "--target", help="E.g. cpu or cuda:90; default: the GPU of this machine.")
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    help="time (default), shared, registers, spills, code_size, compile_time, instructions, instructions.KIND.",
)
@click.option("--sampler", default="tpe", show_default=True, type=click.Choice(["tpe", "random", "grid", "climb"]))
@click.option("--knob", "knobs", multiple=True, help="Turn only these; default: those that `search space` lists.")
@click.option(
    "--tolerance", nargs=2, type=float, help="Relative and absolute tolerance of results that need not be bit-equal."
)
@click.option("--aligned-only", is_flag=True, help="Check no launches with unaligned tensors.")
@click.option("--storage", help="File or URL of the study; default: KERNEL.search.db.")
@click.option("--study", help="Name of the study in the storage.")
@click.option("--resume", is_flag=True, help="Continue a study, also while other processes work on it.")
@click.option("--workers", type=click.IntRange(0), help="Processes that compile beside the one that measures.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "-o", "--output", metavar="FILE.json", help="Keep the winner in this file, beside those of other kernels."
)
def run(kernel: str, **given: Any) -> None:
    """Search for the best compilation of FILE.py:KERNEL that gives the same results.

    \b
    triton-ext search kernels.py:softmax --inputs make_inputs --budget 10m -o kernels.search.json
    triton-ext search kernels.py:softmax --inputs make_inputs --budget 10m --resume
    triton-ext search run kernels.py:softmax --target cuda:90 --compile-only -s "*fp16:16, *fp16:16, i32, 1024"
    """  # noqa: D301 - click reads a backspace
    from ..compilation.requests import load_kernel
    from ..searching import search as look

    path, _, name = kernel.rpartition(":")
    function = load_kernel(path, name)
    storage = given["storage"] or f"{name}.search.db"
    inputs, only = given["inputs"], given["compile_only"]
    if inputs is None and not only:
        raise TritonExtError("a search runs the kernel: name a function that makes its arguments", fix="--inputs NAME")
    last: list[int] = []

    def say(trial: Trial, best: Trial | None) -> None:
        if best is not None and best.number not in last:
            last[:] = [best.number]
            time = f"{best.milliseconds:.4g} ms, " if best.milliseconds is not None else f"{best.objectives}, "
            click.echo(
                f"{trial.at:6.0f} s, trial {best.number}: {time}{best.pipeline or 'no edits'} {best.launch}", err=True
            )

    result = look(
        function,
        None if only else load_kernel(path, given["grid"]),
        load_kernel(path, inputs) if inputs else None,
        compile_only=only,
        signature=given["signature"],
        budget=given["budget"],
        trials=given["trials"],
        target=given["target"],
        objectives=given["objectives"] or None,
        sampler=given["sampler"],
        knobs=given["knobs"] or None,
        reference=load_kernel(path, given["reference"]) if given["reference"] else None,
        tolerance=given["tolerance"],
        unaligned=not given["aligned_only"],
        storage=storage,
        name=given["study"],
        resume=given["resume"],
        workers=given["workers"],
        seed=given["seed"],
        on_trial=say,
    )
    click.echo(result)
    if given["output"]:
        result.save(given["output"])
        note = "" if result.checked else ", marked as never run or checked"
        click.echo(f"the winner is in {given['output']}{note}; TRITON_EXT_PIPELINE={result.finding.edits!r}")


@search.command()
@click.argument("study", metavar="STORAGE")
@click.option("--study", "name", help="Name of the study; default: the only one.")
@click.option("--html", metavar="PAGE.html", help="Write a page.")
def report(study: str, name: str | None, html: str | None) -> None:
    """Show what a study holds: history, importance of each knob, the winning pipeline, its IR against the default."""
    from ..searching.page import page_of
    from ..searching.reporting import ir_difference
    from ..searching.reporting import report as made

    found = made(study, name)
    if html is None:
        click.echo(found)
        return
    differences: list[tuple[str, list[str]]] = []
    problem = "there is no winner yet"
    if found.best is not None and found.default is not None:
        try:
            differences, problem = ir_difference(found.about, found.default, found.best), ""
        except TritonExtError as error:
            problem = str(error)
    try:
        write_whole(Path(html), page_of(found, differences, problem).encode())
    except OSError as error:
        raise TritonExtError(f"{html} cannot be written: {error.strerror}") from error
    click.echo(html)


@search.command()
@click.argument("file")
@click.option("--least", type=float, default=0.98, show_default=True, help="The least gain that is ok; 0: any.")
def verify(file: str, least: float) -> None:
    """Check the winners in FILE again: results and gain. Exits with 1 if one is wrong, slower, worse or broken."""
    from ..searching import verify as check

    failed = False
    for verdict in check(file, least=least):
        click.echo(verdict)
        failed |= verdict.status not in ("ok", "not here")
    raise SystemExit(int(failed))


@search.command()
@click.argument("file")
@click.option("--kernel", help="The name of the kernel, if FILE has winners of several.")
@click.option("-t", "--target", help="The target of the winner, if FILE has several.")
@click.option("--unchecked", is_flag=True, help="Accept a winner that was only compiled: its results are not checked.")
def show(file: str, kernel: str | None, target: str | None, unchecked: bool) -> None:
    """Print the pipeline of a winner in FILE, for TRITON_EXT_PIPELINE."""
    from ..searching import found

    finding = found(file, kernel, target=target, unchecked=unchecked)
    if not finding.checked:
        click.echo("warning: it was compiled only, never run or checked", err=True)
    click.echo(finding.edits)


@search.command()
@click.argument("kernel", metavar="FILE.py:KERNEL")
@click.option("-s", "--signature", help='Type or value of each argument, e.g. "*fp16:16, i32, 64".')
@click.option("-t", "--target", help="E.g. cpu:native or cuda:90; default: the GPU of this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def space(kernel: str, signature: str | None, target: str | None, as_json: bool) -> None:
    """Compile KERNEL and list everything that can be turned for it."""
    from ..searching import space as find

    found = find(kernel, target, signature)
    click.echo(found.json() if as_json else found)
