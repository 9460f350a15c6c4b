# SPDX-License-Identifier: Apache-2.0
"""The arguments and options that several commands share: the kernel to compile, and a pipeline as text."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from ..errors import TritonExtError

if TYPE_CHECKING:
    from ..pipeline.pipeline import Pipeline

PIPELINE_HELP = "Edits as text, e.g. 'ttgir: skip(prefetch)', or @FILE."


def kernel_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: adds the arguments and options that describe a compilation.

    Args:
        command: is called with a `KernelRequest`, a `Pipeline` and its other options by name.
    """

    @functools.wraps(command)
    def with_request(  # noqa: PLR0917 - one for each option
        kernel: str,
        signature: str | None,
        target: str | None,
        num_warps: int | None,
        num_stages: int | None,
        more: tuple[str, ...],
        pipeline: str | None,
        **others: object,
    ) -> None:
        from ..compilation.requests import request_for

        # The default of Triton 3.9, which warns if the variable is not set.
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        task = request_for(kernel, target, signature, backend_options(num_warps, num_stages, more))
        command(task, parse_pipeline(pipeline), **others)

    decorators = [
        click.argument("kernel", metavar="FILE.py:KERNEL|FILE.ttir"),
        click.option(
            "-s",
            "--signature",
            help='Type or value of each argument, e.g. "*fp16:16, i32, 64"; ":16" means divisible by 16.',
        ),
        click.option("-t", "--target", help="E.g. cuda:90, cuda:80, hip:gfx942; default: the GPU of this machine."),
        click.option("-w", "--num-warps", type=click.IntRange(1), help="The number of warps of a program."),
        click.option("-n", "--num-stages", type=click.IntRange(0), help="The number of software pipeline stages."),
        click.option(
            "-o", "--option", "more", multiple=True, metavar="NAME=VALUE", help="Another option of the backend."
        ),
        click.option("-p", "--pipeline", help=PIPELINE_HELP),
    ]
    for decorator in reversed(decorators):
        decorator(with_request)
    return with_request


def backend_options(num_warps: int | None, num_stages: int | None, more: tuple[str, ...]) -> dict[str, object]:
    """Returns the options for the backend.

    Args:
        num_warps: ``--num-warps``; None if it is not given.
        num_stages: ``--num-stages``; None if it is not given.
        more: each ``--option``, as ``NAME=VALUE``; a value that is JSON is read as such.

    Raises:
        TritonExtError: an option has no ``=``.
    """
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
    """Returns the `Pipeline` that a command-line option describes; an empty one if it is not given.

    Raises:
        PipelineError: the text is malformed or names something that does not exist.
    """
    from ..pipeline.pipeline import Pipeline
    from ..pipeline.text_form import read

    return Pipeline.parse(read(text)) if text else Pipeline()
