# SPDX-License-Identifier: Apache-2.0
"""Starts the server on standard input and output."""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from . import processes
from .calls import Calls
from .children import Children
from .launch_tools import LaunchTools
from .limits import Limits
from .root import Root
from .tools import CompilerTools
from .transport import bound_standard_input

INSTRUCTIONS = """Compile, check and measure Triton kernels with edited pass pipelines.
Kernels and inputs are files under one root. A usual order: list_kernels; describe_pipeline for the passes of a kernel
and the anchors of edits; list_passes and describe_pass for passes to place; compile_kernel with an edited pipeline for
diagnostics and resources; diff_ir and read_ir to see what an edit did; check_kernel for right results; measure_kernel
against the incumbent. Each answer begins with its status. A candidate that is wrong, crashes or takes too long is a
result. Actions run one at a time, each in a process of its own with limits of time, memory and output."""


def serve(root: Root, limits: Limits, target: str | None = None, storage: str | None = None) -> None:
    """Serves requests until standard input ends.

    Args:
        root: the files that an agent may name.
        limits: what one action may use.
        target: the target where a call names none.
        storage: the file or URL of the studies.
    """
    processes.become_subreaper()
    bound_standard_input()
    children = Children(limits, owns_children=True)

    @contextlib.asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        # Only now is descriptor 1 no longer the client's, so that nothing which is started writes into the answers.
        await anyio.to_thread.run_sync(children.warm_up)
        yield

    server: MCPServer[Any] = MCPServer(
        "triton-ext",
        title="triton-ext",
        instructions=INSTRUCTIONS,
        version=importlib.metadata.version("triton-ext"),
        log_level="WARNING",
        lifespan=lifespan,
        subscriptions=False,
    )
    calls = Calls(root, children, target)
    for tool in (*CompilerTools(calls).all(), *LaunchTools(calls, storage).all()):
        server.add_tool(
            tool,
            description=" ".join((tool.__doc__ or "").split()),
            structured_output=False,
            annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
        )
    server.run("stdio")
