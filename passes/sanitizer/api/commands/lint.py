# SPDX-License-Identifier: Apache-2.0
"""``triton-ext lint``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("lint")
@click.option("-k", "--kernel", help="Read this kernel only; default: all kernels of the files.")
@click.option(
    "-s",
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=VALUE",
    help='The value of an argument, or "grid", for a launch to check, e.g. "x=fp16[4096, 4096]" or "n=2**32".',
)
@click.option("-t", "--target", help="E.g. cuda:90, hip:gfx942; default: that of this machine, else cuda:90.")
@click.option("-f", "--format", "kind", type=click.Choice(("text", "json", "sarif")), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to this file instead of the terminal.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False), metavar="FILE.py...")
@click.pass_context
def command(
    context: click.Context,
    *,
    kernel: str | None,
    shapes: tuple[str, ...],
    target: str | None,
    kind: str,
    output: str | None,
    files: tuple[str, ...],
) -> None:
    """Find mistakes in the kernels of Python files without running them. The files are imported.

    The exit status is 1 if something is wrong. With a launch as an example, in a comment above the kernel or by
    --shape, offsets that wrap and accesses outside of tensors are found for exactly these numbers.

    \b
    # lint: x=fp16[n], y=fp16[n], n=2**32, BLOCK=1024, grid=cdiv(n, BLOCK)
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr): ...

    A comment "# lint: ignore[RULE]" on a line silences the rule there.
    """  # noqa: D301 - click reads a backspace
    import os

    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the default of Triton 3.9, which warns if it is not set
    from triton_ext.sanitize import _lint

    from triton_ext.errors import TritonExtError

    linted = _lint.Linted()
    errors: list[TritonExtError] = []
    for file in files:
        try:
            found = _lint.lint_file(file, kernel, shapes, target)
        except TritonExtError as error:
            errors.append(error)
            continue
        linted.findings += found.findings
        linted.notes += found.notes
        linted.kernels += found.kernels
    text = linted.written_as(kind)
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text)
    # What is wrong with other files is said first.
    if errors:
        for error in errors[:-1]:
            click.echo(f"triton-ext: error: {error}", err=True)
        raise errors[-1]
    context.exit(int(linted.is_bad))
