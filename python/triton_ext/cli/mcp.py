# SPDX-License-Identifier: Apache-2.0
"""``triton-ext mcp``."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import Any

import click

from ..errors import TritonExtError

_UNITS = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class _Duration(click.ParamType[float]):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|)", str(value))
        if match is None or not (seconds := float(match[1]) * _UNITS[match[2]]):
            self.fail(f"'{value}' is not a duration, expected e.g. 30s or 5m", param, ctx)
        return seconds


class _Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(\d{1,9})([KMG])", str(value))
        if match is None or not int(match[1]):
            self.fail(f"'{value}' is not a size, expected e.g. 512M or 16G", param, ctx)
        return int(match[1]) * _SIZES[match[2]]


@click.command("mcp")
@click.option("--root", required=True, metavar="DIR", help="The directory of the kernels; no other file can be named.")
@click.option("-t", "--target", help="The target where a request names none, e.g. cuda:90; default: this machine's.")
@click.option("--time-limit", type=_Duration(), default="60s", show_default=True, help="How long one action may take.")
@click.option(
    "--memory-limit", type=_Size(), default="16G", show_default=True, help="How much memory each process may allocate."
)
@click.option(
    "--output-limit",
    type=click.IntRange(500),
    default=20_000,
    show_default=True,
    help="How many characters an answer may have.",
)
@click.option("--storage", metavar="FILE|URL", help="The studies of triton-ext search whose history can be read.")
def mcp(
    *, root: str, target: str | None, time_limit: float, memory_limit: int, output_limit: int, storage: str | None
) -> None:
    """Serve tools for agents that optimise kernels, by the Model Context Protocol on standard input and output.

    The tools list passes, compile kernels under DIR with edited pipelines, show IR, check results and measure. Each
    action runs in a process of its own with these limits. The Python files under DIR are executed with your rights.
    """
    if importlib.util.find_spec("mcp") is None:
        raise TritonExtError("the package mcp is not installed", fix="pip install 'triton-ext[mcp]'")
    from ..agent_server.limits import Limits
    from ..agent_server.root import Root
    from ..agent_server.server import serve

    if storage is not None and "://" not in storage:
        storage = os.path.abspath(storage)
    serve(Root(root), Limits(time_limit, memory_limit, output_limit), target, storage)
