# SPDX-License-Identifier: Apache-2.0
"""Chooses the winner of a search, and makes its result."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..errors import TritonExtError
from .finding import finding_of
from .history import Trial
from .result import SearchResult
from .spaces import Space
from .study import Study
from .task import Prepared, Task

#: What edits have to gain; less is noise.
_LEAST = 1.005


def winner_of(study: Study, finals: Mapping[int, float], plain: list[int]) -> Trial:
    """Returns the fastest trial of the last comparison; a trial with edits has to gain more than `_LEAST`.

    Raises:
        TritonExtError: there is no valid trial.
    """
    valid = {t.number: t for t in study.trials if t.is_valid}
    default = next((t for t in valid.values() if not t.values), None)
    if default is None:
        reason = next((f"{t.status}: {t.reason}" for t in study.trials if t.reason), "the budget is too small")
        raise TritonExtError(f"nothing was found, because the unedited kernel has no figures: {reason}")
    if study.objectives[0] != "time" or not finals:
        return study.best or default
    best = _fastest(list(finals), finals, valid) or default
    rival = _fastest(plain, finals, valid) or default
    if best.number in finals and rival.number in finals and finals[rival.number] < finals[best.number] * _LEAST:
        return rival
    return best


def _fastest(numbers: list[int], finals: Mapping[int, float], valid: Mapping[int, Trial]) -> Trial | None:
    """Returns the fastest of `numbers` that took part in the last comparison, or of all if none did."""
    known = [valid[n] for n in numbers if n in valid]
    took_part = [t for t in known if t.number in finals]
    if took_part:
        return min(took_part, key=lambda t: finals[t.number])
    return min(known, key=lambda t: t.milliseconds or t.objectives[0], default=None)


def result_of(
    study: Study,
    task: Task,
    prepared: Prepared,
    *,
    space: Space,
    best: Trial,
    plain: list[int],
    finals: Mapping[int, float],
    storage: str | os.PathLike[str] | None,
    label: str,
) -> SearchResult:
    """Returns the result of a search.

    Args:
        study: the study.
        task: what the workers were told.
        prepared: what the first job found out.
        space: the knobs that were turned.
        best: the winner, without knobs that do not change its binary.
        plain: numbers of the trials without edits.
        finals: milliseconds by trial, measured in turns.
        storage: where the study is; None for memory.
        label: the target.
    """
    valid = {t.number: t for t in study.trials if t.is_valid}
    default = next(t for t in valid.values() if not t.values)
    reference = _fastest([number for number in plain if number in valid], finals, valid) or default
    finding = finding_of(
        task,
        prepared,
        best=best,
        plain=reference,
        finals=finals,
        target=label,
        space=space,
        objectives=study.objectives,
    )
    study.note(finals={str(n): v for n, v in finals.items()}, best=best.number, default=default.number)
    study.note(plain=reference.number)
    return SearchResult(
        task.kernel[2],
        label,
        prepared.device,
        space,
        study.objectives,
        tuple(study.trials),
        best,
        default,
        reference,
        dict(finals),
        finding,
        study.elapsed,
        None if storage is None else os.fspath(storage),
        study.optuna.study_name,
        study.optuna,
    )
