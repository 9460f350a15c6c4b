# SPDX-License-Identifier: Apache-2.0
"""`SearchResult`: what a search found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..pipeline.pipeline import Pipeline
from .history import Trial, front_of
from .reporting import Report, report_of
from .spaces import Space
from .stored import Finding, save


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        kernel: name of the kernel.
        target: e.g. ``cuda:90``.
        device: name of the device; empty if nothing was run.
        space: the knobs that were turned.
        objectives: the objectives.
        history: every trial of the study, in order.
        best: the winner: of the trials that passed the gate twice, the one with the least first objective. In a search
            that only compiled, of all trials that compiled.
        default: the trial of the kernel as it is.
        plain: the fastest of the default and the declared configurations without edits: the choice of
            ``triton.autotune``.
        finals: milliseconds of the best trials, measured in turns at the end.
        finding: what `save` writes.
        seconds: how long was searched, with earlier runs.
        storage: where the study is; None for memory.
        name: the name of the study.
        study: Optuna's study.
    """

    kernel: str
    target: str
    device: str
    space: Space = field(repr=False)
    objectives: tuple[str, ...]
    history: tuple[Trial, ...] = field(repr=False)
    best: Trial
    default: Trial
    plain: Trial
    finals: Mapping[int, float]
    finding: Finding = field(repr=False)
    seconds: float
    storage: str | None
    name: str
    study: Any = field(repr=False)

    @property
    def report(self) -> Report:
        """What `triton_ext.searching.report` returns for the study."""
        return report_of(self.study)

    @property
    def pipeline(self) -> Pipeline:
        """The winner's pipeline, for ``@tx.use`` or ``tx.autotune``; ``str()`` is for ``TRITON_EXT_PIPELINE``."""
        return self.finding.pipeline

    @property
    def configuration(self) -> dict[str, Any]:
        """The winner's constexprs and options, as keyword arguments of a launch."""
        return dict(self.best.launch)

    @property
    def config(self) -> Any:
        """The winner's configuration as a ``triton.Config``."""
        return self.finding.config

    @property
    def checked(self) -> bool:
        """Whether candidates were run and their results checked; False for a search that only compiled."""
        return self.finding.checked

    @property
    def front(self) -> list[Trial]:
        """The trials that no other one beats in all objectives."""
        return front_of(self.history)

    @property
    def gain(self) -> float | None:
        """Time of `plain` divided by that of the winner, measured in turns; 1 if `plain` won, None if nothing ran."""
        return self.finding.gain

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the winner to a file, beside the winners of other kernels, targets and shape classes in it.

        Raises:
            TritonExtError: the file cannot be written, or is not such a file.
        """
        save(path, self.finding)

    def __str__(self) -> str:
        from .rendering import table_of_result

        return table_of_result(self)
