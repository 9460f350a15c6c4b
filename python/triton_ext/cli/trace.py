# SPDX-License-Identifier: Apache-2.0
"""``triton-ext trace``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .kernel_options import kernel_options

if TYPE_CHECKING:
    from ..compilation.requests import KernelRequest
    from ..pipeline.pipeline import Pipeline


@click.command("trace")
@kernel_options
@click.option(
    "--html", type=click.Path(dir_okay=False), help="The page to write; default: KERNEL.html, unless --dir is given."
)
@click.option("--dir", "directory", type=click.Path(file_okay=False), help="The directory to write files into.")
@click.option(
    "--sources",
    type=click.Path(file_okay=False, exists=True),
    help="Show Python files below this directory if the IR names them; for IR that is read from a file.",
)
def trace(
    task: KernelRequest, pipeline: Pipeline, html: str | None, directory: str | None, sources: str | None
) -> None:
    """Compile KERNEL and write the IR before and after every pass.

    \b
    triton-ext trace kernels.py:matmul -s "*fp16:16, *fp16:16, *fp32:16, i32:16, 64" -t cuda:90 --html matmul.html
    """  # noqa: D301 - click reads a backspace
    if html is None and directory is None:
        html = f"{task.kernel}.html"
    from ..tracing import trace_request

    compilation = trace_request(task, pipeline, html, directory, sources)
    passes = [record for stage in compilation.stages for record in stage.passes if record.ran]
    changed = sum(record.changed for record in passes)
    click.echo(f"{compilation.kernel} for {compilation.target}: {len(passes)} passes, {changed} changed the IR")
    for written in filter(None, (html, directory)):
        click.echo(f"wrote {written}")
