# SPDX-License-Identifier: Apache-2.0
"""The tools as an agent sees them: names, typed arguments, descriptions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from .arguments import (
    After,
    Inputs,
    Kernel,
    OptionalInputs,
    Options,
    Pipeline,
    Seconds,
    Signature,
    Target,
    Tolerance,
    What,
)
from .children import Children, Result
from .root import RefusedError, Root

#: Files that `list_kernels` reads.
_MOST_FILES = 500
#: The statuses of requests that could not be carried out; other statuses are results.
_ERRORS = ("refused", "input error", "error")

INSTRUCTIONS = """Compile, check and measure Triton kernels with edited pass pipelines.
Kernels and inputs are files under one root. A usual order: list_kernels; describe_pipeline for the passes of a kernel
and the anchors of edits; list_passes and describe_pass for passes to place; compile_kernel with an edited pipeline for
diagnostics and resources; diff_ir and read_ir to see what an edit did; check_kernel for right results; measure_kernel
against the incumbent. Each answer begins with its status. A candidate that is wrong, crashes or takes too long is a
result. Actions run one at a time, each in a process of its own with limits of time, memory and output."""


class Tools:
    """The functions that the server offers.

    Args:
        root: the files that an agent may name.
        children: run the actions.
        target: the target where a call names none; None for the machine's.
    """

    def __init__(self, root: Root, children: Children, target: str | None) -> None:
        self._root = root
        self._children = children
        self._target = target

    def add_to(self, server: MCPServer[Any]) -> None:
        """Adds all tools to `server`."""
        for tool in (
            *(self.list_kernels, self.list_passes, self.describe_pass, self.describe_pipeline, self.compile_kernel),
            *(self.read_ir, self.diff_ir, self.check_kernel, self.measure_kernel),
        ):
            description = " ".join((tool.__doc__ or "").split())
            server.add_tool(
                tool,
                description=description,
                structured_output=False,
                annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
            )

    async def list_kernels(self) -> CallToolResult:
        """List the kernels in the Python files under the root, with their parameters, and functions that may make
        inputs. Nothing is executed.
        """
        files = [str(path) for path in self._root.python_files(_MOST_FILES)]
        return await self._call("list_kernels", {"files": files, "root": str(self._root.path)})

    async def list_passes(
        self,
        stage: Annotated[
            str | None, Field(max_length=50, description="Only those that run in this stage, e.g. ttgir")
        ] = None,
        search: Annotated[
            str | None, Field(max_length=200, description="Only those with this text in name or summary")
        ] = None,
        origin: Annotated[
            Literal["all", "extensions", "triton"], Field(description="Passes of extensions, of Triton, or all")
        ] = "all",
    ) -> CallToolResult:
        """List the passes that a pipeline may place, one on each line: name, options, stages, what it does.
        Start with origin="extensions": these are the passes that Triton does not run by itself.
        """
        return await self._call("list_passes", {"stage": stage, "search": search, "origin": origin})

    async def describe_pass(
        self, name: Annotated[str, Field(max_length=200, description="E.g. loop_split or ttgpuir.coalesce")]
    ) -> CallToolResult:
        """Return the documentation of one pass: what it does, where it fits, and type, range, default and meaning of
        each of its options.
        """
        return await self._call("describe_pass", {"name": name})

    async def describe_pipeline(
        self,
        *,
        kernel: Kernel,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        target: Target = None,
        options: Options = None,
        pipeline: Pipeline = "",
    ) -> CallToolResult:
        """Compile a kernel and list every pass that ran, by stage: name, arguments, time, operations before and after,
        whether it changed the IR, and remarks. The names are the anchors of edits.
        """
        asked = _asked(kernel, signature, inputs, target, options) | {"pipeline": pipeline}
        return await self._compile_call("describe_pipeline", asked)

    async def compile_kernel(
        self,
        *,
        kernel: Kernel,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        target: Target = None,
        options: Options = None,
        pipeline: Pipeline = "",
    ) -> CallToolResult:
        """Compile a kernel with a pipeline. Returns the compiler's diagnostics if it fails; otherwise resources
        (registers, spills, shared memory, code size) beside those of the unedited kernel, and which passes and stage
        outputs differ. Nothing is launched.
        """
        asked = _asked(kernel, signature, inputs, target, options) | {"pipeline": pipeline}
        return await self._compile_call("compile_kernel", asked)

    async def read_ir(
        self,
        *,
        kernel: Kernel,
        what: What,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        target: Target = None,
        options: Options = None,
        pipeline: Pipeline = "",
        after: After = None,
        lines: Annotated[str | None, Field(max_length=40, description="A range of lines, e.g. '120-180'")] = None,
        pattern: Annotated[
            str | None,
            Field(max_length=500, description="A regular expression (Python): only lines in which it is found"),
        ] = None,
        context: Annotated[int, Field(ge=0, le=50, description="Lines around each match")] = 2,
    ) -> CallToolResult:
        """Return IR or assembly of a compiled kernel with line numbers: the output of a stage, or with `after` the
        module after one pass of that stage. Without a range or pattern the first 200 lines.
        """
        asked = _asked(kernel, signature, inputs, target, options) | {"pipeline": pipeline}
        more = {"what": what, "after": after, "lines": lines, "pattern": pattern, "context": context}
        return await self._compile_call("read_ir", asked, **more)

    async def diff_ir(
        self,
        *,
        kernel: Kernel,
        what: What,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        target: Target = None,
        options: Options = None,
        pipeline: Pipeline = "",
        after: After = None,
        against: Annotated[
            str,
            Field(max_length=20_000, description="The pipeline to compare with; empty: no edits. Not used with after"),
        ] = "",
        context: Annotated[int, Field(ge=0, le=50, description="Unchanged lines around each change")] = 3,
    ) -> CallToolResult:
        """Return a unified difference of IR or assembly: what `pipeline` changes in the output of a stage, compared
        with the unedited kernel (or with the pipeline `against`); or with `after`, what that one pass changed.
        """
        asked = _asked(kernel, signature, inputs, target, options) | {"pipeline": pipeline}
        more = {"what": what, "after": after, "against": against, "context": context}
        return await self._compile_call("diff_ir", asked, **more)

    async def check_kernel(
        self,
        *,
        kernel: Kernel,
        inputs: Inputs,
        pipeline: Pipeline = "",
        options: Options = None,
        relative_tolerance: Tolerance = None,
        absolute_tolerance: Tolerance = None,
        time_limit: Seconds = None,
    ) -> CallToolResult:
        """Run a kernel with a pipeline on this machine, and compare all tensors with those of the unedited kernel, for
        each launch of the inputs. Says whether they are bit-equal, right within the tolerance (default: that of
        torch.testing.assert_close for the type), or wrong, and how much.
        """
        arguments: dict[str, Any] = {"kernel": kernel, "inputs": inputs, "options": options, "pipeline": pipeline}
        given = (relative_tolerance, absolute_tolerance)
        tolerance = None if given == (None, None) else [one or 0.0 for one in given]
        return await self._run_call("check_kernel", arguments, time_limit, tolerance=tolerance)

    async def measure_kernel(
        self,
        *,
        kernel: Kernel,
        inputs: Inputs,
        pipeline: Pipeline = "",
        options: Options = None,
        against: Annotated[
            str, Field(max_length=20_000, description="The pipeline of the incumbent; empty: no edits")
        ] = "",
        against_options: Annotated[
            dict[str, int | float | bool | str] | None, Field(max_length=50, description="The options of the incumbent")
        ] = None,
        rounds: Annotated[int, Field(ge=1, le=50, description="How often both are measured, in turns")] = 5,
        milliseconds: Annotated[int, Field(ge=1, le=1000, description="For how long each is launched in a round")] = 50,
        launch: Annotated[
            int | None, Field(ge=1, le=1000, description="Only this launch of the inputs, from 1; default: all")
        ] = None,
        time_limit: Seconds = None,
    ) -> CallToolResult:
        """Check a candidate (pipeline and options), then measure it in turns with the incumbent on this machine.
        Returns median times, the speedup and its range over the rounds; a wrong candidate is not measured.
        """
        arguments: dict[str, Any] = {"kernel": kernel, "inputs": inputs, "options": options, "pipeline": pipeline}
        more = {"against": against, "against_options": against_options, "rounds": rounds, "case": launch}
        return await self._run_call("measure_kernel", arguments, time_limit, **more, milliseconds=milliseconds)

    async def _compile_call(self, action: str, asked: dict[str, Any], **more: Any) -> CallToolResult:
        """Runs an action that compiles, and first resolves the files that it names."""
        try:
            resolved = self._resolved(asked)
        except RefusedError as error:
            return _answer(Result("refused", str(error)))
        return await self._call(action, {"asked": {**resolved, "target": asked["target"] or self._target}, **more})

    async def _run_call(self, action: str, asked: dict[str, Any], seconds: float | None, **more: Any) -> CallToolResult:
        """Runs an action that launches, and first resolves the files that it names."""
        try:
            resolved = self._resolved(asked)
        except RefusedError as error:
            return _answer(Result("refused", str(error)))
        return await self._call(action, {**resolved, **more}, seconds)

    def _resolved(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Returns `asked` with the root and the real paths of its files.

        Raises:
            RefusedError: a file cannot be named.
        """
        inputs = asked["inputs"]
        return {
            **asked,
            "root": str(self._root.path),
            "kernel": self._root.kernel(asked["kernel"]),
            "inputs": None if inputs is None else self._root.function(inputs),
        }

    async def _call(self, action: str, arguments: dict[str, Any], seconds: float | None = None) -> CallToolResult:
        return _answer(await self._children.call(action, arguments, seconds))


def _asked(
    kernel: str, signature: str | None, inputs: str | None, target: str | None, options: dict[str, Any] | None
) -> dict[str, Any]:
    return {"kernel": kernel, "signature": signature, "inputs": inputs, "target": target, "options": options}


def _answer(result: Result) -> CallToolResult:
    text = f"status: {result.status}\n\n{result.text}"
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"status": result.status, **result.figures},
        is_error=result.status in _ERRORS,
    )
