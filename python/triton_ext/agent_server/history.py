# SPDX-License-Identifier: Apache-2.0
"""The tools about searches: what can be turned for a kernel, and what studies have tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..errors import TritonExtError
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline
from ..searching.history import Trial, best_of, trials_of
from ..searching.optimiser import load_study, optuna, storage_of
from ..searching.rendering import headline, statuses_text
from ..searching.spaces import space_of
from .answers import Answer, FailedError
from .inputs import kernel_at
from .requested import Asked, compiled


def search_space(asked: Mapping[str, Any], *, search: str | None, everything: bool) -> Answer:
    """Returns everything that can be turned for a kernel, a line for each."""
    wanted = Asked(**asked)
    request = wanted.request()
    product, record = compiled(request, Pipeline(), Level.IR)
    configurations = kernel_at(wanted.kernel).configurations if ".py:" in wanted.kernel else ()
    options = product.metadata._asdict()
    space = space_of(request.kernel, request.target, record.stages, configs=list(configurations), options=options)
    lines = []
    for knob in space.knobs:
        edits = " | ".join(dict.fromkeys(filter(None, knob.texts)))
        line = f"{knob.name} [{knob.kind}; {knob.values_text}; default {knob.default}; "
        line += f"changes results: {knob.changes_results}]: {knob.meaning}" + (f"; edits: {edits}" if edits else "")
        if (everything or knob.searched) and (not search or search.lower() in line.lower()):
            lines.append(line)
    turned = sum(knob.searched for knob in space.knobs)
    return Answer(
        "\n".join([f"{headline(space)}; {len(lines)} are shown", "", *lines]),
        figures={"knobs": len(space.knobs), "searched": turned, "shown": len(lines)},
        rest="narrow it with search",
    )


def search_history(*, storage: str | None, study: str | None, status: str | None, most: int) -> Answer:
    """Returns the studies in the storage, and the trials of one of them."""
    names = optuna().get_all_study_names(storage_of(_given(storage)))
    if study is None and len(names) != 1:
        text = "\n".join([f"{len(names)} studies; name one with study:", *names]) if names else "no study yet"
        return Answer(text, figures={"studies": names})
    found = _trials(storage, study)
    counts = Counter(trial.status for trial in found)
    best = best_of(found)
    kept = [trial for trial in found if status is None or trial.status == status]
    kept.sort(key=lambda trial: (not trial.is_valid, trial.objectives, trial.number))
    lines = [f"{study or names[0]}: {len(found)} trials: {statuses_text(found)}"]
    if best is not None:
        lines.append(f"best: trial {best.number}")
    lines += ["", *map(_line, kept[:most])]
    if len(kept) > most:
        lines.append(f"[... {len(kept) - most} more trials; ask for more with most, or for one status]")
    figures: dict[str, Any] = {"studies": names, "trials": len(found), "statuses": dict(counts)}
    if best is not None:
        figures["best"] = {"number": best.number, "pipeline": best.pipeline, "options": best.launch}
        figures["best"]["milliseconds"] = best.milliseconds
    return Answer("\n".join(lines), figures=figures, rest="ask for fewer with most, or for one status")


def _line(trial: Trial) -> str:
    time = "" if trial.milliseconds is None else f", {trial.milliseconds:.4g} ms"
    options = ", ".join(f"{name}={value}" for name, value in trial.launch.items())
    text = f"trial {trial.number}: {trial.status}{time}: {trial.pipeline or 'no edits'}" + (options and f" ({options})")
    return text + (f": {' '.join(trial.reason.split())[:300]}" if trial.reason else "")


def incumbent(storage: str | None, study: str) -> tuple[dict[str, Any], str]:
    """Returns options and pipeline of the best trial of a study.

    Raises:
        FailedError: there is no such study, or no valid trial in it.
    """
    best = best_of(_trials(storage, study))
    if best is None:
        raise FailedError("input error", f"the study '{study}' has no valid trial yet")
    return dict(best.launch), best.pipeline


def _trials(storage: str | None, study: str | None) -> list[Trial]:
    try:
        return trials_of(load_study(_given(storage), study))
    except FailedError:
        raise
    except TritonExtError as error:
        raise FailedError("input error", error.message, fix="search_history lists the studies") from error


def _given(storage: str | None) -> str:
    if storage is None:
        raise FailedError("input error", "the server has no storage of studies", fix="triton-ext mcp --storage FILE")
    return storage
