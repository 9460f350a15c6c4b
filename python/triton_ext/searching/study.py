# SPDX-License-Identifier: Apache-2.0
"""`Study`: Optuna's study of one kernel, with what is known of the candidates that were tried.

Other processes may work on the same study. What a process knows is read from the storage before each batch.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..errors import TritonExtError
from .history import ABOUT, OUT, OWNER, RECORD, REPEATED, Trial, best_of, is_dead, owner, trials_of
from .knobs import OF_LAUNCHES
from .optimiser import optuna
from .samplers import Learned
from .spaces import Space

#: How many candidates that are known already a sampler may propose in a row before the space counts as exhausted.
_IN_VAIN = 60
#: Seconds after which a running trial without an owner counts as lost.
_ORPHAN = 60.0
#: How a candidate can end that makes all others with the same edits fail, too.
_FAILED = ("compile error", "wrong result", "worker error", "time limit")


class Study:
    """A study and its candidates.

    Args:
        storage: Optuna's storage.
        name: the name of the study.
        space: the knobs that are turned.
        objectives: the objectives.
        sampler: Optuna's sampler.
        learned: what the sampler knows about single knobs; it is kept up to date here.
        about: what a report needs to know, as JSON's types.
        resume: whether a study of this name may be there already.

    Attributes:
        optuna: the study itself.
        trials: the trials as of the last `refresh`.
        resumed: how many finished trials there were at first.

    Raises:
        TritonExtError: the study is there and is not to be resumed, or is about another space.
    """

    def __init__(
        self,
        storage: Any,
        name: str,
        space: Space,
        objectives: Sequence[str],
        *,
        sampler: Any,
        learned: Learned,
        about: Mapping[str, Any],
        resume: bool,
    ) -> None:
        module = optuna()
        self.space = space
        self.objectives = tuple(objectives)
        self._learned = learned
        single = len(self.objectives) == 1
        pruner = module.pruners.PercentilePruner(30.0, n_startup_trials=6) if single else None
        try:
            self.optuna = module.create_study(
                study_name=name,
                storage=storage,
                sampler=sampler,
                pruner=pruner,
                directions=["minimize"] * len(self.objectives),
                load_if_exists=resume,
            )
        except module.exceptions.DuplicatedStudyError:
            raise TritonExtError(f"the storage has a study '{name}' already", fix="--resume, or another file") from None
        self._check(name, {**about, "objectives": list(self.objectives), "digest": space.digest})
        self._owner = owner()
        self.trials: list[Trial] = []
        self._finished: dict[tuple[Any, ...], Trial] = {}
        self._open: dict[int, Any] = {}
        self.release_dead()
        self.refresh()
        self.resumed = sum(trial.status not in ("running", "lost") for trial in self.trials)
        self._before = max((trial.at for trial in self.trials), default=0.0)
        self._started = time.monotonic()

    def _check(self, name: str, about: dict[str, Any]) -> None:
        known = self.optuna.user_attrs.get(ABOUT)
        if known is None:
            self.optuna.set_user_attr(ABOUT, json.dumps(about))
            return
        earlier = json.loads(known)
        if earlier.get("compile_only", False) != about.get("compile_only", False):
            raise TritonExtError(
                f"the study '{name}' is of a search that {'only compiles' if earlier.get('compile_only') else 'runs'}",
                fix="another name or file",
            )
        for what in ("objectives", "digest"):
            if earlier[what] != about[what]:
                raise TritonExtError(
                    f"the study '{name}' is about {'other objectives' if what == 'objectives' else 'another space'}: "
                    "the kernel, its configurations, Triton or the extensions have changed",
                    fix="another file",
                )

    @property
    def about(self) -> dict[str, Any]:
        """The facts about the study that a report needs."""
        return dict(json.loads(self.optuna.user_attrs[ABOUT]))

    def note(self, **facts: Any) -> None:
        """Adds facts to `about`."""
        self.optuna.set_user_attr(ABOUT, json.dumps({**self.about, **facts}))

    @property
    def elapsed(self) -> float:
        """Seconds of searching, with those of earlier runs."""
        return self._before + time.monotonic() - self._started

    def refresh(self) -> None:
        """Reads the trials of all processes."""
        self.trials = trials_of(self.optuna)
        self._finished = {}
        for trial in self.trials:
            if trial.status not in ("running", "lost", "known failure"):
                self._remember(trial)

    def _remember(self, trial: Trial) -> None:
        key = _key(trial.values)
        self._finished.setdefault(key, trial)
        if len(key) == 1 or trial.status not in _FAILED:  # of several edits, another one may be the cause
            self._learned.tried.update(key)
        default = self._finished.get(())
        useless = trial.status in _FAILED or (default is not None and trial.same_as == default.number)
        if len(key) == 1 and useless:
            name, kind, value = key[0]
            if self.space.knob(name).kind not in OF_LAUNCHES or trial.same_as is not None:
                self._learned.avoided.add((name, kind, value))

    def release_dead(self) -> None:
        """Gives the candidates of processes that have died to the next one that asks."""
        module = optuna()
        for frozen in self.optuna.get_trials(deepcopy=False, states=(module.trial.TrialState.RUNNING,)):
            who = frozen.user_attrs.get(OWNER)
            began = frozen.datetime_start or datetime.now()
            is_orphan = who is None and (datetime.now() - began).total_seconds() > _ORPHAN
            if is_orphan or is_dead(who):
                self.optuna.tell(frozen.number, state=module.trial.TrialState.FAIL, skip_if_finished=True)
                if frozen.params:
                    self.enqueue(frozen.params)

    def enqueue(self, values: Mapping[str, Any]) -> None:
        """Has a candidate tried next, if it has not been tried."""
        self.optuna.enqueue_trial({**self.space.default, **values}, skip_if_exists=False)

    def ask(self, count: int) -> list[tuple[int, dict[str, Any]]]:
        """Returns number and knob values of up to `count` candidates that have to be tried.

        Candidates that were tried before, or contain edits that failed before, are answered here.
        """
        asked: list[tuple[int, dict[str, Any]]] = []
        under_way: set[tuple[Any, ...]] = set()
        in_vain = 0
        while len(asked) < count and in_vain < _IN_VAIN:
            self._learned.in_vain = in_vain
            trial = self.optuna.ask()
            trial.set_user_attr(OWNER, self._owner)
            values = {knob.name: trial.suggest_categorical(knob.name, list(knob.choices)) for knob in self.space.knobs}
            self._open[trial.number] = trial
            changed = self.space.changed(values)
            key = _key(changed)
            known = self._finished.get(key)
            if known is not None or key in under_way:
                in_vain += 1
                self._repeat(trial.number, known)
            elif (culprit := self._culprit(changed)) is not None:
                in_vain += 1
                reason = f"it contains the edits of trial {culprit.number}, which failed: {culprit.status}"
                self.tell(Trial(trial.number, "known failure", changed, reason=reason))
            else:
                in_vain = 0
                under_way.add(key)
                asked.append((trial.number, values))
        return asked

    def _repeat(self, number: int, known: Trial | None) -> None:
        """Answers a trial with the result of an equal one, for the sampler; the history does not show it."""
        self._open.pop(number).set_user_attr(REPEATED, True)
        self._tell_sampler(number, known)

    def _tell_sampler(self, number: int, result: Trial | None) -> None:
        """Tells Optuna how the trial `number` ended: as `result`, or without one."""
        if result is not None and result.is_valid:
            self.optuna.tell(number, list(result.objectives))
            return
        states = optuna().trial.TrialState  # samplers learn from pruned trials, and not from failed ones
        self.optuna.tell(number, state=states.FAIL if len(self.objectives) > 1 else states.PRUNED)

    def _culprit(self, changed: Mapping[str, Any]) -> Trial | None:
        """Returns a trial with at most two edits, all in `changed`, that did not compile or gave a wrong result."""
        items = {(name, type(value).__name__, value) for name, value in changed.items()}
        for key, trial in self._finished.items():
            if trial.status not in _FAILED or not key:
                continue
            edits = [name for name in trial.values if self.space.knob(name).kind not in OF_LAUNCHES]
            if len(edits) == len(key) and 1 <= len(key) <= 2 and items >= set(key):
                return trial
        return None

    def prune(self, number: int, few: float) -> bool:
        """Whether a candidate whose first launches took `few` milliseconds is too slow to be measured further."""
        trial = self._open[number]
        if len(self.objectives) > 1:
            return False
        trial.report(few, 0)
        return bool(trial.should_prune())

    def tell(self, trial: Trial) -> None:
        """Keeps how a candidate ended."""
        frozen = self._open.pop(trial.number)
        frozen.set_user_attr(RECORD, Trial(**{**vars(trial), "at": round(self.elapsed, 3)}).text())
        self._tell_sampler(trial.number, trial)
        self.trials = [*(other for other in self.trials if other.number != trial.number), trial]
        if trial.status != "known failure":
            self._remember(trial)

    def same_binary(self, binary: str, launch: Mapping[str, Any]) -> Trial | None:
        """Returns the first trial with the same binary and constexprs; None if there is none."""
        mine = self.space.constexprs(launch)
        for trial in self._finished.values():
            if not binary or trial.binary != binary or trial.same_as is not None:
                continue
            if self.space.constexprs(trial.launch) == mine:
                return trial
        return None

    @property
    def best(self) -> Trial | None:
        """The best valid trial so far."""
        return best_of(self.trials)

    def disqualify(self, number: int, status: str, reason: str, case: str) -> None:
        """Notes that a valid trial failed later, in any process."""
        self.optuna.set_user_attr(f"{OUT}{number}", json.dumps({"status": status, "reason": reason, "case": case}))
        self.refresh()

    def give_up(self) -> None:
        """Leaves the candidates that are under way to the next process that works on the study."""
        states = optuna().trial.TrialState
        for number, trial in self._open.items():
            self.optuna.tell(number, state=states.FAIL, skip_if_finished=True)
            self.enqueue(trial.params)
        self._open.clear()


def _key(changed: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(((name, type(v).__name__, v) for name, v in changed.items()), key=lambda item: item[:2]))
