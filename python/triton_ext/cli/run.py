# SPDX-License-Identifier: Apache-2.0
"""``triton-ext run``."""

from __future__ import annotations

import os
import shutil

import click

from ..errors import PipelineError, TritonExtError
from .kernel_options import PIPELINE_HELP, parse_pipeline


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-p", "--pipeline", help=PIPELINE_HELP)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(pipeline: str | None, command: tuple[str, ...]) -> None:
    """Run COMMAND and apply a pipeline to every kernel that it or one of its child processes compiles.

    \b
    triton-ext run -p "ttgir: set(ttgpuir.pipeline, num_stages=4)" -- python train.py
    """  # noqa: D301 - click reads a backspace
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
