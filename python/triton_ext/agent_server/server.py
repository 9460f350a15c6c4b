# SPDX-License-Identifier: Apache-2.0
"""Starts the server on standard input and output."""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer

from . import processes
from .children import Children
from .limits import Limits
from .root import Root
from .tools import INSTRUCTIONS, Tools
from .transport import bound_standard_input


def serve(root: Root, target: str | None, limits: Limits) -> None:
    """Serves requests until standard input ends.

    Args:
        root: the files that an agent may name.
        target: the target where a call names none.
        limits: what one action may use.
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
    Tools(root, children, target).add_to(server)
    server.run("stdio")
