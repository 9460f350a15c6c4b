# SPDX-License-Identifier: Apache-2.0
"""The tools as an agent sees them: names, typed arguments, descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import Field

from .arguments import (
    After,
    Grid,
    Kernel,
    OptionalInputs,
    Options,
    Pipeline,
    Signature,
    Target,
    What,
)
from .calls import Calls

#: Files that `list_kernels` reads.
_MOST_FILES = 500


def _asked(  # noqa: PLR0917 - the parameters that all tools that compile have, in their order
    kernel: str,
    signature: str | None,
    inputs: str | None,
    grid: Any,
    target: str | None,
    options: Mapping[str, Any] | None,
    pipeline: str = "",
) -> dict[str, Any]:
    """Returns what a tool is asked to compile, as `requested.Asked` takes it."""
    return {
        "kernel": kernel,
        "signature": signature,
        "inputs": inputs,
        "grid": grid,
        "target": target,
        "options": options,
        "pipeline": pipeline,
    }


class CompilerTools:
    """The tools that launch nothing.

    Args:
        calls: carry out the calls.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def all(self) -> tuple[Callable[..., Any], ...]:
        """Returns the tools."""
        return (
            *(self.list_kernels, self.list_passes, self.describe_pass, self.describe_pipeline, self.compile_kernel),
            *(self.read_ir, self.diff_ir, self.search_space),
        )

    async def list_kernels(self) -> CallToolResult:
        """List the kernels in the Python files under the root, with their parameters, and functions that may make
        inputs. Nothing is executed.
        """
        files = [str(path) for path in self._calls.root.python_files(_MOST_FILES)]
        return await self._calls.call("list_kernels", {"files": files, "root": str(self._calls.root.path)})

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
        return await self._calls.call("list_passes", {"stage": stage, "search": search, "origin": origin})

    async def describe_pass(
        self, name: Annotated[str, Field(max_length=200, description="E.g. ttgpuir.coalesce, as list_passes names it")]
    ) -> CallToolResult:
        """Return the documentation of one pass: what it does, where it fits, and type, range, default and meaning of
        each of its options.
        """
        return await self._calls.call("describe_pass", {"name": name})

    async def describe_pipeline(
        self,
        *,
        kernel: Kernel,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        grid: Grid = None,
        target: Target = None,
        options: Options = None,
        pipeline: Pipeline = "",
    ) -> CallToolResult:
        """Compile a kernel and list every pass that ran, by stage: name, arguments, time, operations before and after,
        whether it changed the IR, and remarks. The names are the anchors of edits.
        """
        asked = _asked(kernel, signature, inputs, grid, target, options, pipeline)
        return await self._calls.compile("describe_pipeline", asked)

    async def compile_kernel(
        self,
        *,
        kernel: Kernel,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        grid: Grid = None,
        target: Target = None,
        options: Options = None,
        pipeline: Pipeline = "",
    ) -> CallToolResult:
        """Compile a kernel with a pipeline. Returns the compiler's diagnostics if it fails; otherwise resources
        (registers, spills, shared memory, code size) beside those of the unedited kernel, and which passes and stage
        outputs differ. Nothing is launched.
        """
        asked = _asked(kernel, signature, inputs, grid, target, options, pipeline)
        return await self._calls.compile("compile_kernel", asked)

    async def read_ir(
        self,
        *,
        kernel: Kernel,
        what: What,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        grid: Grid = None,
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
        asked = _asked(kernel, signature, inputs, grid, target, options, pipeline)
        more = {"what": what, "after": after, "lines": lines, "pattern": pattern, "context": context}
        return await self._calls.compile("read_ir", asked, **more)

    async def diff_ir(
        self,
        *,
        kernel: Kernel,
        what: What,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        grid: Grid = None,
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
        asked = _asked(kernel, signature, inputs, grid, target, options, pipeline)
        more = {"what": what, "after": after, "against": against, "context": context}
        return await self._calls.compile("diff_ir", asked, **more)

    async def search_space(
        self,
        *,
        kernel: Kernel,
        signature: Signature = None,
        inputs: OptionalInputs = None,
        grid: Grid = None,
        target: Target = None,
        options: Options = None,
        search: Annotated[
            str | None, Field(max_length=200, description="Only knobs with this text in their line")
        ] = None,
        everything: Annotated[
            bool,
            Field(description="Also knobs that no search turns, because they may change results or change nothing"),
        ] = False,
    ) -> CallToolResult:
        """List what can be turned for a kernel: passes of extensions and their options, built-in passes to skip,
        repeat, move or give other arguments, launch options, constexprs, pipelines of LLVM. Each with its values, its
        default, whether it can change results, what it means, and the edits that turn it.
        """
        asked = _asked(kernel, signature, inputs, grid, target, options)
        return await self._calls.compile("search_space", asked, search=search, everything=everything)
