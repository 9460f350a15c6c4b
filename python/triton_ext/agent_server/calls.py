# SPDX-License-Identifier: Apache-2.0
"""From the call of a tool to an action, and from its result to the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_types import CallToolResult, TextContent

from .children import Children, Result
from .root import RefusedError, Root

#: The statuses of requests that could not be carried out; other statuses are results.
_ERRORS = ("refused", "input error", "error")


class Calls:
    """Resolves the files that a call of a tool names, has the action run, and turns its result into an answer.

    Args:
        root: the files that an agent may name.
        children: run the actions.
        target: the target where a call names none; None for the machine's.
    """

    def __init__(self, root: Root, children: Children, target: str | None) -> None:
        self.root = root
        self._children = children
        self._target = target

    async def compile(self, action: str, asked: dict[str, Any], **more: Any) -> CallToolResult:
        """Runs an action that compiles, and first resolves the files that it names."""
        given = {**asked, "target": asked["target"] or self._target}
        return await self._call_resolved(action, given, lambda resolved: {"asked": resolved, **more})

    async def run(self, action: str, asked: dict[str, Any], seconds: float | None, **more: Any) -> CallToolResult:
        """Runs an action that launches, and first resolves the files that it names."""
        return await self._call_resolved(action, asked, lambda resolved: {**resolved, **more}, seconds)

    async def _call_resolved(
        self,
        action: str,
        asked: dict[str, Any],
        arguments: Callable[[dict[str, Any]], dict[str, Any]],
        seconds: float | None = None,
    ) -> CallToolResult:
        """Runs an action with the `arguments` that are made from `asked` with the real paths of its files."""
        try:
            resolved = self._resolved(asked)
        except RefusedError as error:
            return answer(Result("refused", str(error)))
        return await self.call(action, arguments(resolved), seconds)

    def _resolved(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Returns `asked` with the root and the real paths of its files.

        Raises:
            RefusedError: a file cannot be named.
        """
        inputs = asked["inputs"]
        return {
            **asked,
            "root": str(self.root.path),
            "kernel": self.root.kernel(asked["kernel"]),
            "inputs": None if inputs is None else self.root.function(inputs),
            "grid": self.root.function(asked["grid"]) if isinstance(asked["grid"], str) else asked["grid"],
        }

    async def call(self, action: str, arguments: dict[str, Any], seconds: float | None = None) -> CallToolResult:
        """Runs an action whose `arguments` name no files, or real paths under the root."""
        return answer(await self._children.call(action, arguments, seconds))


def answer(result: Result) -> CallToolResult:
    """Returns the protocol's form of a result."""
    text = f"status: {result.status}\n\n{result.text}"
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={**result.figures, "status": result.status},
        is_error=result.status in _ERRORS,
    )
