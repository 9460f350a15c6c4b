# SPDX-License-Identifier: Apache-2.0
"""`report`: what a study holds, for its table and its page: history, importance of each knob, winner, IR difference."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..compilation.describe import compile_observed
from ..compilation.locations import language_of, split
from ..compilation.requests import load_kernel, request_for
from ..errors import TritonExtError
from ..pipeline.inspection import Level
from ..pipeline.pipeline import Pipeline
from ..tuning.job import below_tuners
from .history import Trial, best_of, front_of, trials_of
from .knobs import Knob
from .optimiser import load_study, optuna
from .targets import own_target

#: The most lines of a difference of IR.
_MOST_LINES = 2000


@dataclass(frozen=True)
class Report:
    """What a study holds.

    Attributes:
        name: the name of the study.
        about: kernel, target, device, objectives, launches.
        trials: its trials, in order.
        best: the winner; None if there is none yet.
        default: the trial of the kernel as it is, likewise.
        plain: the fastest configuration without edits, likewise.
        finals: milliseconds by trial, measured in turns.
        importance: by knob, the part of the differences between trials that it explains.
    """

    name: str
    about: Mapping[str, Any]
    trials: tuple[Trial, ...]
    best: Trial | None
    default: Trial | None
    plain: Trial | None
    finals: Mapping[int, float]
    importance: Mapping[str, float]

    @property
    def objectives(self) -> tuple[str, ...]:
        """The objectives of the study."""
        return tuple(self.about["objectives"])

    @property
    def checked(self) -> bool:
        """Whether candidates were run and their results checked; False for a search that only compiled."""
        return not self.about.get("compile_only", False)

    @property
    def front(self) -> list[Trial]:
        """The trials that no other one beats in all objectives."""
        return front_of(self.trials)

    @property
    def gain(self) -> float | None:
        """Time of `plain` divided by that of the winner; None if they were not measured."""
        own, other = self.milliseconds(self.best), self.milliseconds(self.plain)
        return other / own if own and other else None

    def milliseconds(self, trial: Trial | None) -> float | None:
        """Returns the time of a trial, from the finals if it took part in them."""
        return None if trial is None else self.finals.get(trial.number, trial.milliseconds)

    def __str__(self) -> str:
        from .rendering import text_of_report

        return text_of_report(self)


def report(storage: str | os.PathLike[str], name: str | None = None) -> Report:
    """Returns what a study holds; it may still be running.

    Args:
        storage: the file or the URL of the study.
        name: its name; None if there is only one.

    Raises:
        TritonExtError: there is no such study, or it is not of a search.
    """
    study = load_study(storage, name)
    return report_of(study)


def report_of(study: Any) -> Report:
    """Returns the report of a study of Optuna.

    Raises:
        TritonExtError: it is not a study of a search.
    """
    import json

    from .history import ABOUT

    text = study.user_attrs.get(ABOUT)
    if text is None:
        raise TritonExtError(f"the study '{study.study_name}' is not of triton-ext search")
    about = json.loads(text)
    trials = trials_of(study)
    by_number = {trial.number: trial for trial in trials}
    best = by_number.get(about.get("best", -1))
    return Report(
        study.study_name,
        about,
        tuple(trials),
        best if best is not None and best.is_valid else best_of(trials),
        next((t for t in trials if not t.values and t.is_valid), None),
        by_number.get(about.get("plain", -1)) or next((t for t in trials if not t.values and t.is_valid), None),
        {int(number): value for number, value in about.get("finals", {}).items()},
        importance_of(study, [Knob(**_tuples(knob)) for knob in about["space"]]),
    )


def importance_of(study: Any, knobs: Sequence[Knob]) -> dict[str, float]:
    """Returns by knob the part of the differences between trials that it explains; empty if there are too few."""
    module = optuna()
    several = len(study.directions) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = module.importance.get_param_importances(
                study,
                evaluator=module.importance.PedAnovaImportanceEvaluator(),
                params=[knob.name for knob in knobs],
                target=(lambda trial: trial.values[0]) if several else None,
            )
        except (RuntimeError, ValueError):  # too few trials, or all are equal
            return {}
    return {name: float(value) for name, value in found.items() if value > 0}


def ir_difference(about: Mapping[str, Any], default: Trial, best: Trial) -> list[tuple[str, list[str]]]:
    """Compiles the kernel as it is and as in `best`; returns stage and unified difference, without locations.

    Args:
        about: the facts about the study.
        default: the trial of the kernel as it is.
        best: the other one.

    Raises:
        TritonExtError: the kernel cannot be found any more, or its arguments need a device.
    """
    if about.get("signature") is None:
        raise TritonExtError("the kernel's arguments cannot be described, so it is compiled at a launch only")
    outputs = [_outputs(about, trial) for trial in (default, best)]
    found = []
    for stage in outputs[0]:
        if stage not in outputs[1]:
            continue
        before, after = (output[stage].splitlines() for output in outputs)
        lines = list(difflib.unified_diff(before, after, "default", "winner", lineterm="", n=3))
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], f"... {len(lines) - _MOST_LINES:,} more lines"]
        found.append((stage, lines))
    return found


def _outputs(about: Mapping[str, Any], trial: Trial) -> dict[str, str]:
    """Returns the text that each stage returned, by stage."""
    kernel = below_tuners(load_kernel(about["file"], about["name"]))
    constexprs = {name: value for name, value in trial.launch.items() if name in kernel.arg_names}
    options = {name: value for name, value in trial.launch.items() if name not in constexprs}
    fixed = {kernel.arg_names[i] for i in kernel.constexprs}
    signature = {name: value if name in fixed else _type_of(value) for name, value in about["signature"]} | constexprs
    target = own_target(about["target"].partition(":")[0]) or about["target"]
    task = request_for(kernel, target, signature, options)
    compilation = compile_observed(task, Level.IR, Pipeline.parse(trial.pipeline))
    texts = {s.name: s.output for s in compilation.stages if isinstance(s.output, str)}
    return {stage: "\n".join(split(text, language_of(stage, text)).lines) for stage, text in texts.items()}


def _type_of(value: Any) -> object:
    """Returns an argument of `describing.described`, after a way through JSON, as `request_for` takes it."""
    if isinstance(value, list | tuple):
        import torch
        from triton.runtime.jit import type_canonicalisation_dict

        name = str(getattr(torch, value[0].removeprefix("torch."))).removeprefix("torch.")
        return f"*{type_canonicalisation_dict[name]}" + (":16" if value[1] == 16 else "")
    if isinstance(value, bool):
        return "u1"
    if isinstance(value, int):
        kind = "i32" if -(2**31) <= value < 2**31 else "i64"
        return 1 if value == 1 else kind + (":16" if value % 16 == 0 else "")
    return "fp32" if isinstance(value, float) else value


def _tuples(knob: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in knob.items()}
