# SPDX-License-Identifier: Apache-2.0
"""``triton-ext sanitize``."""

from __future__ import annotations

from pathlib import Path

import click

#: The exit status of a command that a signal ended, less the number of the signal.
_SIGNALLED = 128


@click.command("sanitize", context_settings={"allow_interspersed_args": False})
@click.option("--checks", default="bounds,lanes,overflow,hints", show_default=True, help="The checks; or all.")
@click.option(
    "--action",
    type=click.Choice(("report", "suppress", "trap")),
    default="report",
    show_default=True,
    help="Let an access out of bounds through, mask it off, or end the kernel.",
)
@click.option(
    "--format", "format_", type=click.Choice(("text", "json", "sarif")), help="The format of the report; default: text."
)
@click.option("--output", type=click.Path(dir_okay=False), help="Write the report to a file, not to standard output.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def command(  # noqa: PLR0917 - one for each option
    context: click.Context,
    checks: str,
    action: str,
    format_: str | None,
    output: str | None,
    command: tuple[str, ...],
) -> None:
    """Run COMMAND, and report what is wrong with the kernels that it or one of its child processes runs.

    The exit status is that of COMMAND if it fails, else 1 if something was found. A process that ends without Python's
    end, such as by os._exit, has no report.

    \b
    triton-ext sanitize -- python train.py
    triton-ext sanitize --checks all --output findings.sarif -- torchrun train.py
    """  # noqa: D301 - click reads a backspace
    from triton_ext.sanitize import _run

    report, status = _run.run(command, checks, action)
    if status > _SIGNALLED and not report.accesses:
        click.echo(f"signal {status - _SIGNALLED} ended the command: a process that ends so has no report", err=True)
        if action == "report":
            click.echo("(fix: --action suppress, with which accesses out of bounds do not end the process)", err=True)
        context.exit(status)
    if output is not None:
        report.write(Path(output), format_)
        click.echo(_run.summary(report))
        click.echo(f"wrote {output}")
    else:
        text = (
            _run.coloured(report)
            if format_ in (None, "text")
            else {"json": report.json, "sarif": report.sarif}[format_]()
        )
        click.echo(text)  # without colours where it is not for a terminal
    context.exit(status or (1 if report.findings else 0))
