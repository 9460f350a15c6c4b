# SPDX-License-Identifier: Apache-2.0
"""The loop of a search: ask, compile, check, time a few launches, time many in turns with the incumbent, tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from ..tuning.finals import MOST, NOISE
from ..tuning.outcome import state
from .answers import measured_of, outcome_of
from .history import Trial
from .objectives import values_of
from .pools import Pools
from .study import Study
from .task import Assignment, Candidate, Compiled, Measured, Prepared, Task
from .worker import compile_candidate, measure_candidate

#: How often the candidate and the incumbent are measured in turns, and the best candidates at the end.
_ROUNDS, _FINAL_ROUNDS = 3, 5
#: A candidate is not measured further if its first launches took this much longer than the incumbent's.
_TOO_SLOW = 1.5
#: How many of the declared configurations take part in the last comparison.
_RIVALS = 3


@dataclass
class _Asked:
    """One candidate that is under way."""

    trial: Trial
    candidate: Candidate
    compiled: Compiled | None = None


class Loop:
    """Searches until its time is over.

    Args:
        study: the study.
        task: what the workers are told.
        prepared: what the first job found out.
        pools: the workers.
        progress: is called after each trial.
    """

    def __init__(
        self, study: Study, task: Task, prepared: Prepared, pools: Pools, progress: Callable[[Study], None]
    ) -> None:
        self._study = study
        self._task = task
        self._pools = pools
        self._progress = progress
        self._described = prepared.described if pools.compiles_apart else task.described
        self._keys: dict[str, str] = {}

    def run(self, seconds: float, trials: int | None) -> None:
        """Tries candidates.

        Args:
            seconds: after these no further candidate is begun.
            trials: the most candidates; None for no limit.
        """
        end = time.monotonic() + seconds
        left = trials if trials is not None else 1 << 60
        pending: Future[list[_Asked]] | None = None
        with ThreadPoolExecutor(1) as thread:
            try:
                while True:
                    batch: list[_Asked] = []
                    if time.monotonic() < end and left > 0:
                        self._study.refresh()
                        batch = self._asked(min(self._pools.batch, left))
                        left -= len(batch)
                    following = thread.submit(self._compile, batch) if batch else None
                    if not self._pools.overlap and following is not None:
                        self._measure(following.result())
                        continue
                    if pending is not None:
                        self._measure(pending.result())
                    if following is None:
                        break
                    pending = following
            finally:
                self._study.give_up()

    def _asked(self, count: int) -> list[_Asked]:
        found: list[_Asked] = []
        while not found and (asked := self._study.ask(count)):
            found = self._placed(asked)
        return found

    def _placed(self, asked: list[tuple[int, dict[str, Any]]]) -> list[_Asked]:
        """Returns the candidates whose edits do not contradict each other; the others are told at once."""
        found = []
        for number, values in asked:
            space = self._study.space
            trial = Trial(number, "running", space.changed(values), space.launch(values), space.text(values))
            try:
                found.append(_Asked(trial, self._candidate(trial, exact=space.effect(values) == "no")))
            except TritonExtError as error:
                self._study.tell(replace(trial, status="compile error", reason=str(error)))
        return found

    def _candidate(self, trial: Trial, *, exact: bool) -> Candidate:
        if trial.pipeline not in self._keys:
            self._keys[trial.pipeline] = state(Pipeline.parse(trial.pipeline))
        return Candidate(trial.launch, trial.pipeline, self._keys[trial.pipeline], exact)

    def _compile(self, batch: list[_Asked]) -> list[_Asked]:
        """Compiles candidates; it touches no study, because it may run in a thread of its own."""
        jobs = {i: Assignment(self._task, one.candidate, described=self._described) for i, one in enumerate(batch)}
        results = self._pools.compile(compile_candidate, jobs)
        for i, one in enumerate(batch):
            result = results.get(i)
            if not isinstance(result, Compiled):
                result = Compiled(outcome_of(result), {}, "")
            one.compiled = result
        return batch

    def _measure(self, batch: list[_Asked]) -> None:
        """Checks and measures what compiled, and tells the study."""
        todo: dict[int, _Asked] = {}
        in_batch: dict[tuple[str, str], int] = {}
        later: list[tuple[_Asked, int]] = []
        for one in batch:
            assert one.compiled is not None
            outcome = one.compiled.outcome
            one.trial = replace(
                one.trial, figures=one.compiled.figures, binary=one.compiled.binary, status=outcome.status
            )
            if outcome.status != "ok":
                self._tell(replace(one.trial, reason=outcome.reason))
            elif (known := self._study.same_binary(one.trial.binary, one.trial.launch)) is not None:
                self._tell_same(one, known)
            elif self._task.described is not None:  # nothing is run
                self._tell(replace(one.trial, objectives=self._values(None, one.trial)))
            else:
                identity = one.trial.binary, repr(sorted(one.trial.launch.items(), key=str))
                first = in_batch.setdefault(identity, one.trial.number)
                if first == one.trial.number:
                    todo[first] = one
                else:
                    later.append((one, first))
        self._few(todo)
        self._many(todo)
        for one, first in later:
            known = next((t for t in self._study.trials if t.number == first), None)
            if known is not None:
                self._tell_same(one, known)

    def _few(self, todo: dict[int, _Asked]) -> None:
        """Checks candidates and times a few launches; those that go on stay in `todo`."""
        jobs = {number: Assignment(self._task, one.candidate) for number, one in todo.items()}
        incumbent = self._study.best
        for number, result in self._pools.measure(measure_candidate, jobs).items():
            measured = measured_of(result)
            outcome = measured.outcome
            trial = replace(todo[number].trial, status=outcome.status, reason=outcome.reason, case=measured.case)
            trial = replace(trial, seconds=measured.seconds)
            if outcome.status != "ok":
                self._tell(trial)
                del todo[number]
                continue
            few = outcome.milliseconds[0]
            todo[number].trial = trial = replace(trial, few=few)
            slow = incumbent is not None and incumbent.few is not None and few > _TOO_SLOW * incumbent.few
            if "time" not in self._study.objectives or (slow and len(self._study.objectives) > 1):
                self._tell(replace(trial, objectives=self._values(few, trial)))
                del todo[number]
            elif (self._study.prune(number, few) or slow) and incumbent is not None:
                self._tell(replace(trial, status="pruned", reason=f"its first launches took {few:.4g} ms"))
                del todo[number]

    def _many(self, todo: dict[int, _Asked]) -> None:
        """Times many launches of each candidate, in turns with the incumbent."""
        incumbent = self._study.best
        rival = self._candidate(incumbent, exact=True) if incumbent is not None else None
        jobs = {
            number: Assignment(self._task, one.candidate, (rival or one.candidate,), _ROUNDS)
            for number, one in todo.items()
        }
        for number, result in self._pools.measure(measure_candidate, jobs).items():
            measured = measured_of(result)
            outcome, trial = measured.outcome, todo[number].trial
            trial = replace(trial, seconds=trial.seconds + measured.seconds, status=outcome.status)
            if outcome.status != "ok":
                self._tell(replace(trial, reason=outcome.reason))
                continue
            milliseconds = outcome.milliseconds[0]
            if incumbent is not None and incumbent.milliseconds is not None:
                versus = milliseconds / measured.compared[0]
                trial = replace(trial, versus=versus)
                milliseconds = versus * incumbent.milliseconds
            trial = replace(trial, milliseconds=milliseconds)
            self._tell(replace(trial, objectives=self._values(milliseconds, trial)))

    def _values(self, milliseconds: float | None, trial: Trial) -> tuple[float, ...]:
        return values_of(self._study.objectives, milliseconds, trial.figures)

    def _tell_same(self, one: _Asked, known: Trial) -> None:
        figures = {**known.figures, "compile_time": one.trial.figures.get("compile_time", 0.0)}
        again = replace(
            known,
            number=one.trial.number,
            values=one.trial.values,
            launch=one.trial.launch,
            pipeline=one.trial.pipeline,
            figures=figures,
            same_as=known.number,
            seconds=0.0,
        )
        self._tell(again)

    def _tell(self, trial: Trial) -> None:
        self._study.tell(trial)
        self._progress(self._study)

    def finals(self, plain: Iterable[int]) -> dict[int, float]:
        """Measures the best candidates and the best of `plain` in turns; returns milliseconds by trial.

        Before that, each has to pass the gate again, with other random contents.

        Args:
            plain: numbers of the trials without edits: the default and the declared configurations.
        """
        self._study.refresh()
        valid = sorted(
            (t for t in self._study.trials if t.is_valid and t.same_as is None and t.milliseconds is not None),
            key=lambda t: t.milliseconds or 0.0,
        )
        if not valid:
            return {}
        numbers = set(plain)
        rivals = [t for t in self._study.trials if t.number in numbers and t.is_valid and t.milliseconds is not None]
        least = (valid[0].milliseconds or 0.0) * (1 + NOISE)
        close = [t for t in valid[:MOST] if (t.milliseconds or 0.0) <= least]
        rivals.sort(key=lambda t: t.milliseconds or 0.0)
        default = min(rivals, key=lambda t: t.number, default=None)
        entrants = {t.number: t for t in (*close, *rivals[:_RIVALS], default) if t is not None}
        task = replace(self._task, seed=self._task.seed + 1, group=f"{self._task.group}-final")
        space = self._study.space
        candidates = {n: self._candidate(t, exact=space.effect(t.values) == "no") for n, t in entrants.items()}
        checked = self._pools.measure(measure_candidate, {n: Assignment(task, c) for n, c in candidates.items()})
        for number, result in checked.items():
            measured = measured_of(result)
            if measured.outcome.status != "ok":
                self._disqualify(entrants[number], measured)
                del candidates[number]
        if not candidates:
            return {}
        first, *others = candidates
        job = Assignment(task, candidates[first], tuple(candidates[n] for n in others), _FINAL_ROUNDS)
        (result,) = self._pools.measure(measure_candidate, {0: job}).values()
        measured = measured_of(result)
        if measured.outcome.status != "ok":
            return {}
        return dict(zip(candidates, (measured.outcome.milliseconds[0], *measured.compared), strict=True))

    def simplified(self, trial: Trial) -> Trial:
        """Returns `trial` without the knobs that do not change its binaries, or the trial itself."""
        space, values = self._study.space, dict(trial.values)
        without = {name: {k: v for k, v in values.items() if k != name} for name in values}
        kept = dict(values)
        for name, same in self._same_binary(trial, without).items():
            if same:
                del kept[name]
        if kept == values or not self._same_binary(trial, {"all": kept})["all"]:
            return trial
        return replace(trial, values=space.changed(kept), launch=space.launch(kept), pipeline=space.text(kept))

    def _same_binary(self, trial: Trial, others: dict[str, dict[str, Any]]) -> dict[str, bool]:
        """Returns for each of `others`, values of knobs, whether they give the binaries of `trial`."""
        space, jobs = self._study.space, {}
        for number, values in enumerate(others.values()):
            launch = space.launch(values)
            if space.constexprs(launch) == space.constexprs(trial.launch):
                one = replace(trial, launch=launch, pipeline=space.text(values))
                jobs[number] = Assignment(self._task, self._candidate(one, exact=True), described=self._described)
        results = self._pools.compile(compile_candidate, jobs)
        same = {n for n, r in results.items() if isinstance(r, Compiled) and r.binary and r.binary == trial.binary}
        return {name: number in same for number, name in enumerate(others)}

    def _disqualify(self, trial: Trial, measured: Measured) -> None:
        """Notes that a candidate failed in the finals, so that no process takes it for the best any more."""
        self._study.disqualify(trial.number, measured.outcome.status, measured.outcome.reason, measured.case)
