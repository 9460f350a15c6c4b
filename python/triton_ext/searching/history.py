# SPDX-License-Identifier: Apache-2.0
"""`Trial`: one candidate of a study, as it is kept in Optuna's storage, and what a study holds."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..support.process_tree import stat_of

#: Names of the attributes of studies and trials.
RECORD, OWNER, ABOUT = "triton_ext", "triton_ext:owner", "triton_ext:about"
#: The attribute of trials that repeat an earlier one, for the sampler; a history does not show them.
REPEATED = "triton_ext:repeated"
#: The beginning of the names of attributes for trials that failed after they had counted as valid.
OUT = "triton_ext:out:"


@dataclass(frozen=True)
class Trial:
    """One candidate that was tried.

    Attributes:
        number: its number in the study.
        status: as in `triton_ext.tuning.Row`; or ``pruned`` (a few launches were too slow), ``known failure`` (it
            contains edits that failed before), ``running``, ``lost`` (its process died).
        values: the values of the knobs that differ from the default.
        launch: constexprs and options of its launch.
        pipeline: its edits, as text.
        figures: what its binary needs; see `figures_of`.
        milliseconds: median time; None if it was not measured.
        few: median time of the first few launches.
        versus: its time divided by that of the incumbent, measured in turns; None if it was not.
        reason: why it failed.
        case: the launch that showed a wrong result.
        binary: a hash of the binary.
        same_as: the trial with the same binary, whose time counts for this one; None if there is none.
        objectives: the values of the study's objectives.
        at: seconds of searching at which it ended.
        seconds: how long the device was used for it.
    """

    number: int
    status: str
    values: dict[str, Any] = field(default_factory=dict)
    launch: dict[str, Any] = field(default_factory=dict)
    pipeline: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    milliseconds: float | None = None
    few: float | None = None
    versus: float | None = None
    reason: str = ""
    case: str = ""
    binary: str = ""
    same_as: int | None = None
    objectives: tuple[float, ...] = ()
    at: float = 0.0
    seconds: float = 0.0

    @property
    def is_valid(self) -> bool:
        """Whether it compiled, computed the right results (unless its study runs nothing), and has all objectives."""
        return self.status == "ok" and bool(self.objectives)

    def text(self) -> str:
        """Returns the trial as JSON."""
        return json.dumps(asdict(self))


def trials_of(study: Any) -> list[Trial]:
    """Returns the trials of a study, in order."""
    found = []
    attributes = study.user_attrs
    out = {name.removeprefix(OUT): json.loads(text) for name, text in attributes.items() if name.startswith(OUT)}
    for frozen in study.get_trials(deepcopy=False):
        if REPEATED in frozen.user_attrs:
            continue
        text = frozen.user_attrs.get(RECORD)
        if text is None:
            status = "lost" if frozen.state.is_finished() else "running"
            found.append(Trial(frozen.number, status))
            continue
        fields = json.loads(text) | out.get(str(frozen.number), {})
        found.append(Trial(**{**fields, "objectives": tuple(fields["objectives"])}))
    return found


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """Returns the valid trial with the least first objective; of equal ones the least second one, then the earliest."""
    return min((t for t in trials if t.is_valid), key=lambda t: (t.objectives, t.number), default=None)


def front_of(trials: Iterable[Trial]) -> list[Trial]:
    """Returns the valid trials that no other one beats in all objectives, best first; the first of equal ones."""
    distinct: dict[tuple[float, ...], Trial] = {}
    for trial in trials:
        if trial.is_valid and trial.same_as is None:
            distinct.setdefault(trial.objectives, trial)
    valid = list(distinct.values())

    def beats(a: Trial, b: Trial) -> bool:
        pairs = list(zip(a.objectives, b.objectives, strict=True))
        return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

    return sorted((t for t in valid if not any(beats(o, t) for o in valid)), key=lambda t: t.objectives)


def owner() -> str:
    """Returns what identifies this process: host, process and the time at which the process began."""
    return json.dumps([socket.gethostname(), os.getpid(), _began(os.getpid())])


def is_dead(text: str | None) -> bool:
    """Whether the process that `owner` described has ended; False if it runs on another host."""
    if text is None:
        return False
    host, process, began = json.loads(text)
    return bool(host == socket.gethostname() and _began(process) != began)


def _began(process: int) -> str:
    """Returns the time at which a process began, in ticks since the machine's start; empty if there is none."""
    try:
        return stat_of(process)[19]
    except (OSError, IndexError):
        return ""
