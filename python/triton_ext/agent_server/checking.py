# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel with a pipeline, and compares its results with those of the unedited kernel."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..pipeline.pipeline import Pipeline
from ..searching import launches
from ..tuning.outcome import failure, synchronize
from ..tuning.parallel import Compiled
from .answers import Answer, FailedError
from .inputs import Case, Kernel, cases_of, checked_options, kernel_at, launch, unedited_options
from .requested import pipeline_of, text_of


@dataclass(frozen=True)
class Verdict:
    """How the results of one launch compare with those of the unedited kernel.

    Attributes:
        problem: what is wrong; empty if all results are within the tolerance.
        is_equal: whether they have the same bits.
    """

    problem: str
    is_equal: bool


class Trial:
    """One launch, which can be repeated with other pipelines.

    Args:
        kernel: the kernel.
        case: the launch.
        options: launch options and values of constexprs of the unedited kernel.

    Attributes:
        kernel: the kernel.
        case: the launch.
        is_deterministic: whether the unedited kernel computes the same bits each time.

    Raises:
        FailedError: the unedited kernel fails, or there is no tensor to compare.
    """

    def __init__(self, kernel: Kernel, case: Case, options: Mapping[str, Any]) -> None:
        self.kernel, self.case = kernel, case
        self._tensors = case.tensors or launches.Case(case.name, case.arguments, launches.copies(case.arguments), {})
        if not self._tensors.initial:
            raise FailedError("input error", f"{case.name} has no tensor of torch, so no result can be compared")
        try:
            self._tensors.learn(lambda: self.run(options, Pipeline()))
        except FailedError as error:
            raise FailedError(error.status, f"the unedited kernel fails in {case.name}: {error.message}") from error
        finally:
            self.restore()
        self.is_deterministic = self._tensors.exact

    def run(self, options: Mapping[str, Any], pipeline: Pipeline) -> Any:
        """Launches the kernel with `pipeline` and waits for it; returns Triton's ``CompiledKernel``.

        Raises:
            FailedError: it does not compile, or the launch fails.
        """
        try:
            with pipeline if pipeline.edits else contextlib.nullcontext():
                product = launch(self.kernel, self.case, options)
            synchronize()
        except (FailedError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            kind = failure(error if isinstance(error, Exception) else None, Compiled()).status
            raise FailedError(kind, text_of(error)) from error
        return product

    def verdict(
        self, options: Mapping[str, Any], pipeline: Pipeline, tolerance: tuple[float, float] | None = None
    ) -> Verdict:
        """Launches the kernel with `pipeline`, compares its results and restores the tensors.

        Args:
            options: launch options and values of constexprs.
            pipeline: the edits.
            tolerance: relative and absolute; None for that of the type.

        Raises:
            FailedError: it does not compile, or the launch fails.
        """
        try:
            self._tensors.reset()
            self.run(options, pipeline)
            problem = self._tensors.problem(tolerance, exact=False) or ""
            return Verdict(problem, not problem and self._is_equal())
        finally:
            self.restore()

    def _is_equal(self) -> bool:
        found = self.case.arguments
        return all(launches.same_bits(found[name], value) for name, value in self._tensors.expected.items())

    def restore(self) -> None:
        """Gives all tensors the contents that they had before the first launch."""
        self._tensors.reset(poison=False)


def with_variants(cases: Sequence[Case]) -> Iterator[Case]:
    """Yields `cases`, and the smallest with its values permuted and with tensors at unaligned addresses.

    The tensors are copies that lie between guards, so that a launch which writes outside of them is noticed.
    """
    made = launches.variants([case.arguments for case in cases], 0, unaligned=True)
    for number, tensors in enumerate(made):
        match = re.match(r"launch (\d+)", tensors.name)
        assert match is not None
        grid = cases[int(match[1]) - 1].grid
        name = cases[number].name if number < len(cases) else tensors.name
        yield Case(tensors.arguments, grid, name, tensors)


def check_kernel(
    *,
    root: str,
    kernel: str,
    inputs: str,
    grid: Sequence[int] | str | None,
    options: Mapping[str, Any] | None,
    pipeline: str,
    tolerance: tuple[float, float] | None,
    variants: bool,
) -> Answer:
    """Runs all launches of `inputs` with a pipeline and without, and compares the results."""
    # The kernel first: a pipeline may name functions of modules beside it.
    given, found = checked_options(options), kernel_at(kernel)
    edits = pipeline_of(pipeline, root)
    cases = cases_of(inputs, grid)
    lines, are_equal, wrong = [], True, 0
    tried = list(with_variants(cases)) if variants else cases
    for case in tried:
        trial = Trial(found, case, unedited_options(found, case, given))
        verdict = trial.verdict(given, edits, tolerance)
        are_equal &= verdict.is_equal
        wrong += bool(verdict.problem)
        state = f"WRONG: {verdict.problem}" if verdict.problem else "right, not bit-equal"
        lines.append(f"  {case.name}: {'bit-equal' if verdict.is_equal else state}")
        if not trial.is_deterministic:
            lines.append("    the unedited kernel itself computes other bits each time")
    head = f"{wrong} of {len(tried)} launches wrong" if wrong else f"all {len(tried)} launches right"
    return Answer(
        "\n".join([f"{found.name} with {str(edits) or 'no edits'}: {head}", "", *lines]),
        "wrong result" if wrong else "ok",
        {"launches": len(tried), "wrong": wrong, "bit_equal": are_equal},
    )
