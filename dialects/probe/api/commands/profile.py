# SPDX-License-Identifier: Apache-2.0
"""``triton-ext profile``."""

from __future__ import annotations

from pathlib import Path

import click

ORDERS = ("bytes", "loaded", "stored", "atomic", "time", "calls", "off", "iterations", "nans", "line")


@click.command("profile", context_settings={"allow_interspersed_args": False})
@click.option(
    "--bytes/--no-bytes",
    "with_bytes",
    default=True,
    help="Count the bytes that each line loads and stores. On by default.",
)
@click.option("--masked", is_flag=True, help="Count the lanes that masks turn off.")
@click.option("--loops", is_flag=True, help="Count the iterations of loops.")
@click.option("--regions", is_flag=True, help="Measure the time of loops and matrix products.")
@click.option("--nan", is_flag=True, help="Find the lines that make NaNs; slow.")
@click.option("--sort", type=click.Choice(ORDERS), help="Sort lines by this; default: time if measured, else bytes.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many lines to print.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with the source and its numbers.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False), help="Write all lines as JSON.")
@click.option("--timeline", type=click.Path(dir_okay=False), help="Write a trace for Perfetto; needs --regions.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(  # noqa: PLR0917 - one for each option
    context: click.Context,
    with_bytes: bool,
    masked: bool,
    loops: bool,
    regions: bool,
    nan: bool,
    sort: str | None,
    top: int,
    html: str | None,
    json_path: str | None,
    timeline: str | None,
    file: str,
    arguments: tuple[str, ...],
) -> None:
    """Run the Python program FILE, and print the hottest lines of its kernels.

    The exit status is that of the program. Kernels of other processes, and of Triton's interpreter, are not seen.

    \b
    triton-ext profile --loops --html softmax.html softmax.py --size 4096
    """  # noqa: D301 - click reads a backspace
    if timeline is not None and not regions:
        raise click.UsageError("--timeline shows what --regions measures: add --regions")
    from triton_ext.probe import _profile

    directory = Path.cwd()  # the program may change it
    rules = {"bytes": with_bytes, "calls": True, "masked": masked, "loops": loops, "regions": regions, "nan": nan}
    profile = _profile.run(file, arguments, {name: True for name, wanted in rules.items() if wanted})
    for line in _profile.report(profile, sort, top):
        click.echo(line)
    outputs = ((html, _profile.write_page), (json_path, _profile.write_json), (timeline, _profile.write_timeline))
    for path, write in outputs:
        if path is not None:
            write(profile, directory / path)
            click.echo(f"wrote {path}")
    context.exit(profile.status)
