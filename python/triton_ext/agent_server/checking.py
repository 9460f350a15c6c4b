# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel with a pipeline, and compares its results with those of the unedited kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..pipeline.pipeline import Pipeline
from ..tuning.check import Checker
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
    """One launch, which can be repeated with other pipelines: it restores the tensors.

    Args:
        kernel: the kernel.
        case: the launch.
        options: launch options and values of constexprs.
        tolerance: relative and absolute; None for that of the type.

    Attributes:
        is_deterministic: whether the unedited kernel computes the same bits each time.

    Raises:
        FailedError: the unedited kernel fails, or there is no tensor to compare.
    """

    def __init__(
        self, kernel: Kernel, case: Case, options: Mapping[str, Any], tolerance: tuple[float, float] | None = None
    ) -> None:
        self.kernel, self.case = kernel, case
        self._tensors = case.tensors
        if not self._tensors:
            raise FailedError("input error", f"{case.name} has no tensor of torch, so no result can be compared")
        self._saved = _copies(self._tensors)
        try:
            self.run(options, Pipeline())
            self._expected = _copies(self._tensors)
            changed = {name for name, tensor in self._tensors.items() if not _same_bits(tensor, self._saved[name])}
            kept = set(self._tensors) - changed
            self._check = self._checker(tolerance, kept)
            # What the kernel writes without reading it first is spoiled before each launch, so that results of an
            # earlier launch are not taken for those of the next one.
            again = self._again(options, Pipeline())
            if again.problem:
                self._check = self._checker(tolerance, set(self._tensors))
                again = self._again(options, Pipeline())
            self.is_deterministic = again.is_equal
        except FailedError as error:
            raise FailedError(error.status, f"the unedited kernel fails in {case.name}: {error.message}") from error
        finally:
            self.restore()

    def _checker(self, tolerance: tuple[float, float] | None, kept: set[str]) -> Checker:
        return Checker(lambda _: self._expected, None, tolerance, kept, dict(self.case.arguments))

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

    def verdict(self, options: Mapping[str, Any], pipeline: Pipeline) -> Verdict:
        """Launches the kernel with `pipeline`, compares its results and restores the tensors.

        Raises:
            FailedError: it does not compile, or the launch fails.
        """
        try:
            return self._again(options, pipeline)
        finally:
            self.restore()

    def _again(self, options: Mapping[str, Any], pipeline: Pipeline) -> Verdict:
        self.restore()
        self._check.spoil()
        self.run(options, pipeline)
        if all(_same_bits(tensor, self._expected[name]) for name, tensor in self._tensors.items()):
            return Verdict("", True)
        return Verdict(self._check.problem(self.case.arguments) or "", False)

    def restore(self) -> None:
        """Gives all tensors the contents that they had before the first launch."""
        for name, tensor in self._tensors.items():
            with contextlib.suppress(RuntimeError):  # an expanded tensor, which cannot have been written to
                tensor.copy_(self._saved[name])


def _copies(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def _same_bits(one: Any, other: Any) -> bool:
    import torch

    def plain(tensor: Any) -> Any:
        return tensor.detach().contiguous().reshape(-1).view(torch.uint8)

    return bool(torch.equal(plain(one), plain(other)))


def check_kernel(
    *,
    root: str,
    kernel: str,
    inputs: str,
    options: Mapping[str, Any] | None,
    pipeline: str,
    tolerance: tuple[float, float] | None,
) -> Answer:
    """Runs all launches of `inputs` with a pipeline and without, and compares the results."""
    # The kernel first: a pipeline may name functions of modules beside it.
    given, found = checked_options(options), kernel_at(kernel)
    edits = pipeline_of(pipeline, root)
    lines, are_equal, wrong = [], True, 0
    cases = cases_of(inputs)
    for case in cases:
        trial = Trial(found, case, unedited_options(found, case, given), tolerance)
        verdict = trial.verdict(given, edits)
        are_equal &= verdict.is_equal
        wrong += bool(verdict.problem)
        state = f"WRONG: {verdict.problem}" if verdict.problem else "right, not bit-equal"
        lines.append(f"  {case.name}: {'bit-equal' if verdict.is_equal else state}")
        if not trial.is_deterministic:
            lines.append("    the unedited kernel itself computes other bits each time")
    head = f"{wrong} of {len(cases)} launches wrong" if wrong else f"all {len(cases)} launches right"
    return Answer(
        "\n".join([f"{found.name} with {str(edits) or 'no edits'}: {head}", "", *lines]),
        "wrong result" if wrong else "ok",
        {"launches": len(cases), "wrong": wrong, "bit_equal": are_equal},
    )
