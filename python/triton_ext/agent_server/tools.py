# SPDX-License-Identifier: Apache-2.0
"""The tools as an agent sees them: names, typed arguments, descriptions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from .children import Children, Result
from .root import RefusedError, Root

#: Files that `list_kernels` reads.
_MOST_FILES = 500
#: The statuses of requests that could not be carried out; other statuses are results.
_ERRORS = ("refused", "input error", "error")

_Kernel = Annotated[
    str,
    Field(
        max_length=4096,
        description="The kernel: FILE.py:KERNEL, with FILE.py relative to the root; or a file with IR (.ttir, .ttgir)",
    ),
]
_Signature = Annotated[
    str | None,
    Field(
        max_length=4096,
        description='Type or value of each argument of the kernel, in order, e.g. "*fp16:16, *fp32, i32, 64". '
        "*fp16 is a pointer, :16 means divisible by 16, a constexpr gets its value. Leave it out if you give inputs",
    ),
]
_OptionalInputs = Annotated[
    str | None,
    Field(
        max_length=4096,
        description="Instead of signature: FILE.py:FUNCTION, which returns the arguments of launches (see check_kernel); "
        "types and values are those of its first launch",
    ),
]
_Inputs = Annotated[
    str,
    Field(
        max_length=4096,
        description="FILE.py:FUNCTION, a function without parameters that returns the arguments of one launch by name and "
        'its grid, e.g. {"x": x, "y": y, "n": 1000, "BLOCK": 1024, "grid": (64,)}, or a list of such dictionaries',
    ),
]
_Target = Annotated[
    str | None,
    Field(max_length=200, description="E.g. cuda:90, cuda:80, hip:gfx942 or cpu:x86-64-v3; no GPU is needed to compile"),
]
_Options = Annotated[
    dict[str, int | float | bool | str] | None,
    Field(
        max_length=50,
        description="Launch options such as {\"num_warps\": 8, \"num_stages\": 2}; where inputs are given, also values of "
        "constexprs, which replace those of the inputs",
    ),
]
_Pipeline = Annotated[
    str,
    Field(
        max_length=20_000,
        description="Edits of the pass pipeline, e.g. 'ttir: after(loop_unroll, loop_split{max-splits=2}), "
        "skip(common.cse); ttgir: set(pipeline, num_stages=4); llvm: at_end(llvm{passes=\"function(gvn)\"})'. The edits are "
        "before, after, replace, skip, set (with an anchor), at_start, at_end (with a stage before them). Empty: no edits",
    ),
]
_What = Annotated[
    str,
    Field(max_length=100, description="The stage: ttir, ttgir, llir, ptx, sass, amdgcn; on the CPU ttir, cpuir, llir, asm"),
]
_After = Annotated[
    str | None,
    Field(
        max_length=200,
        description="A pass of that stage, as describe_pipeline names it, e.g. ttgpuir.coalesce or common.cse#2",
    ),
]
_Tolerance = Annotated[float | None, Field(ge=0, le=1e9, allow_inf_nan=False)]

INSTRUCTIONS = """Compile, check and measure Triton kernels with edited pass pipelines.
Kernels and inputs are files under one root. A usual order: list_kernels; describe_pipeline for the passes of a kernel and
the anchors of edits; list_passes and describe_pass for passes to place; compile_kernel with an edited pipeline for
diagnostics and resources; diff_ir and read_ir to see what an edit did; check_kernel for right results; measure_kernel
against the incumbent. Each answer begins with its status. A candidate that is wrong, crashes or takes too long is a result.
Actions run one at a time, each in a process of its own with limits of time, memory and output."""


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
        stage: Annotated[str | None, Field(max_length=50, description="Only those that run in this stage, e.g. ttgir")] = None,
        search: Annotated[str | None, Field(max_length=200, description="Only those with this text in name or summary")] = None,
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
        """Return the documentation of one pass: what it does, where it fits, and type, range, default and meaning of each
        of its options.
        """
        return await self._call("describe_pass", {"name": name})

    async def describe_pipeline(
        self,
        kernel: _Kernel,
        signature: _Signature = None,
        inputs: _OptionalInputs = None,
        target: _Target = None,
        options: _Options = None,
        pipeline: _Pipeline = "",
    ) -> CallToolResult:
        """Compile a kernel and list every pass that ran, by stage: name, arguments, time, operations before and after,
        whether it changed the IR, and remarks. The names are the anchors of edits.
        """
        arguments = self._compilation(kernel, signature, inputs, target, options, pipeline)
        return await self._checked_call("describe_pipeline", arguments)

    async def compile_kernel(
        self,
        kernel: _Kernel,
        signature: _Signature = None,
        inputs: _OptionalInputs = None,
        target: _Target = None,
        options: _Options = None,
        pipeline: _Pipeline = "",
    ) -> CallToolResult:
        """Compile a kernel with a pipeline. Returns the compiler's diagnostics if it fails; otherwise resources (registers,
        spills, shared memory, code size) beside those of the unedited kernel, and which passes and stage outputs differ.
        Nothing is launched.
        """
        arguments = self._compilation(kernel, signature, inputs, target, options, pipeline)
        return await self._checked_call("compile_kernel", arguments)

    async def read_ir(
        self,
        kernel: _Kernel,
        what: _What,
        signature: _Signature = None,
        inputs: _OptionalInputs = None,
        target: _Target = None,
        options: _Options = None,
        pipeline: _Pipeline = "",
        after: _After = None,
        lines: Annotated[str | None, Field(max_length=40, description="A range of lines, e.g. '120-180'")] = None,
        pattern: Annotated[
            str | None, Field(max_length=500, description="A regular expression (Python): only lines in which it is found")
        ] = None,
        context: Annotated[int, Field(ge=0, le=50, description="Lines around each match")] = 2,
    ) -> CallToolResult:
        """Return IR or assembly of a compiled kernel with line numbers: the output of a stage, or with `after` the module
        after one pass of that stage. Without a range or pattern the first 200 lines.
        """
        arguments = self._compilation(kernel, signature, inputs, target, options, pipeline)
        more = {"what": what, "after": after, "lines": lines, "pattern": pattern, "context": context}
        return await self._checked_call("read_ir", arguments, **more)

    async def diff_ir(
        self,
        kernel: _Kernel,
        what: _What,
        signature: _Signature = None,
        inputs: _OptionalInputs = None,
        target: _Target = None,
        options: _Options = None,
        pipeline: _Pipeline = "",
        after: _After = None,
        against: Annotated[
            str, Field(max_length=20_000, description="The pipeline to compare with; empty: no edits. Not used with after")
        ] = "",
        context: Annotated[int, Field(ge=0, le=50, description="Unchanged lines around each change")] = 3,
    ) -> CallToolResult:
        """Return a unified difference of IR or assembly: what `pipeline` changes in the output of a stage, compared with
        the unedited kernel (or with the pipeline `against`); or with `after`, what that one pass changed.
        """
        arguments = self._compilation(kernel, signature, inputs, target, options, pipeline)
        more = {"what": what, "after": after, "against": against, "context": context}
        return await self._checked_call("diff_ir", arguments, **more)

    async def check_kernel(
        self,
        kernel: _Kernel,
        inputs: _Inputs,
        pipeline: _Pipeline = "",
        options: _Options = None,
        relative_tolerance: _Tolerance = None,
        absolute_tolerance: _Tolerance = None,
    ) -> CallToolResult:
        """Run a kernel with a pipeline on this machine, and compare all tensors with those of the unedited kernel, for
        each launch of the inputs. Says whether they are bit-equal, right within the tolerance (default: that of
        torch.testing.assert_close for the type), or wrong, and how much.
        """
        arguments: dict[str, Any] = {"kernel": kernel, "inputs": inputs, "options": options, "pipeline": pipeline}
        given = (relative_tolerance, absolute_tolerance)
        tolerance = None if given == (None, None) else [one or 0.0 for one in given]
        return await self._checked_call("check_kernel", arguments, tolerance=tolerance)

    async def measure_kernel(
        self,
        kernel: _Kernel,
        inputs: _Inputs,
        pipeline: _Pipeline = "",
        options: _Options = None,
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
    ) -> CallToolResult:
        """Check a candidate (pipeline and options), then measure it in turns with the incumbent on this machine. Returns
        median times, the speedup and its range over the rounds; a wrong candidate is not measured.
        """
        arguments: dict[str, Any] = {"kernel": kernel, "inputs": inputs, "options": options, "pipeline": pipeline}
        more = {"against": against, "against_options": against_options, "rounds": rounds, "case": launch}
        return await self._checked_call("measure_kernel", arguments, **more, milliseconds=milliseconds)

    def _compilation(
        self,
        kernel: str,
        signature: str | None,
        inputs: str | None,
        target: str | None,
        options: dict[str, Any] | None,
        pipeline: str,
    ) -> dict[str, Any]:
        given = {"kernel": kernel, "signature": signature, "inputs": inputs, "pipeline": pipeline}
        return {**given, "target": target or self._target, "options": options}

    async def _checked_call(self, action: str, arguments: dict[str, Any], **more: Any) -> CallToolResult:
        """Runs an action whose `arguments` name files, which are resolved first."""
        try:
            arguments["kernel"] = self._root.kernel(arguments["kernel"])
            if arguments["inputs"] is not None:
                arguments["inputs"] = self._root.function(arguments["inputs"])
        except RefusedError as error:
            return _answer(Result("refused", str(error)))
        return await self._call(action, {"root": str(self._root.path), **arguments, **more})

    async def _call(self, action: str, arguments: dict[str, Any]) -> CallToolResult:
        return _answer(await self._children.call(action, arguments))


def _answer(result: Result) -> CallToolResult:
    text = f"status: {result.status}\n\n{result.text}"
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"status": result.status, **result.figures},
        is_error=result.status in _ERRORS,
    )
