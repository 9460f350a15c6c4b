# SPDX-License-Identifier: Apache-2.0
"""The tools that launch a kernel, and the one that reads what searches have launched, as an agent sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from .arguments import Grid, Inputs, Kernel, Options, Pipeline, Seconds, Tolerance
from .calls import Calls


class LaunchTools:
    """The tools that launch a kernel or read what was launched.

    Args:
        calls: carry out the calls.
        storage: the file or URL of the studies; None if there are none.
    """

    def __init__(self, calls: Calls, storage: str | None) -> None:
        self._calls = calls
        self._storage = storage

    def all(self) -> tuple[Callable[..., Any], ...]:
        """Returns the tools."""
        return (self.check_kernel, self.measure_kernel, self.search_history)

    async def check_kernel(
        self,
        *,
        kernel: Kernel,
        inputs: Inputs,
        grid: Grid = None,
        pipeline: Pipeline = "",
        options: Options = None,
        relative_tolerance: Tolerance = None,
        absolute_tolerance: Tolerance = None,
        variants: Annotated[
            bool, Field(description="Also run the smallest launch with permuted values and with unaligned tensors")
        ] = True,
        time_limit: Seconds = None,
    ) -> CallToolResult:
        """Run a kernel with a pipeline on this machine, and compare all tensors with those of the unedited kernel, for
        each launch of the inputs. Says whether they are bit-equal, right within the tolerance (default: that of
        torch.testing.assert_close for the type), or wrong, and how much.
        """
        arguments: dict[str, Any] = {"kernel": kernel, "inputs": inputs, "grid": grid}
        arguments |= {"options": options, "pipeline": pipeline}
        given = (relative_tolerance, absolute_tolerance)
        tolerance = None if given == (None, None) else [one or 0.0 for one in given]
        return await self._calls.run("check_kernel", arguments, time_limit, tolerance=tolerance, variants=variants)

    async def measure_kernel(
        self,
        *,
        kernel: Kernel,
        inputs: Inputs,
        grid: Grid = None,
        pipeline: Pipeline = "",
        options: Options = None,
        against: Annotated[
            str, Field(max_length=20_000, description="The pipeline of the incumbent; empty: no edits")
        ] = "",
        against_options: Annotated[
            dict[str, int | float | bool | str] | None, Field(max_length=50, description="The options of the incumbent")
        ] = None,
        against_study: Annotated[
            str | None, Field(max_length=500, description="Instead: a study, whose best trial is the incumbent")
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
        arguments: dict[str, Any] = {"kernel": kernel, "inputs": inputs, "grid": grid}
        arguments |= {"options": options, "pipeline": pipeline}
        more: dict[str, Any] = {
            "against": against,
            "against_options": against_options,
            "rounds": rounds,
            "case": launch,
        }
        more |= {"storage": self._storage, "study": against_study}
        return await self._calls.run("measure_kernel", arguments, time_limit, **more, milliseconds=milliseconds)

    async def search_history(
        self,
        *,
        study: Annotated[str | None, Field(max_length=500, description="The study; default: the only one")] = None,
        status: Annotated[
            str | None, Field(max_length=50, description="Only trials with it, e.g. wrong result")
        ] = None,
        most: Annotated[int, Field(ge=1, le=1000, description="So many trials, the best first")] = 20,
    ) -> CallToolResult:
        """Return what `triton-ext search` has tried so far: the trials of a study with status, time, pipeline, options
        and why they failed, best first; without a study, the names of all studies if there are several.
        """
        given = {"storage": self._storage, "study": study, "status": status, "most": most}
        return await self._calls.call("search_history", given)
