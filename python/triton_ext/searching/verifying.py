# SPDX-License-Identifier: Apache-2.0
"""`verify`: checks a file of findings again, results and gain, as a job of CI does."""

from __future__ import annotations

import json
import os
import pickle
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..compilation.requests import find_target, load_kernel
from ..errors import TritonExtError
from ..pipeline.pipeline import Pipeline
from ..tuning.job import find_name
from ..tuning.outcome import state
from ..tuning.workers import process
from .answers import measured_of, outcome_of
from .objectives import values_of
from .pools import Pools
from .rendering import column_of, number_text
from .spaces import declared_configs, label_of
from .stored import Finding, findings
from .targets import own_target
from .task import Assignment, Candidate, Compiled, FunctionRef, Measured, Task, refer_to
from .worker import compile_candidate, measure_candidate

#: The part of the plain configuration's time that noise may add.
_NOISE = 0.02
#: How often the two are measured in turns, and how often that is repeated before the finding counts as slower.
_ROUNDS, _ATTEMPTS = 7, 3


@dataclass(frozen=True)
class Verdict:
    """The result of checking one finding.

    Attributes:
        finding: the finding.
        status: ``ok``, ``wrong``, ``slower``, ``broken`` (it does not compile or run any more), ``not here`` (this
            machine has another target), or ``worse`` (a finding that was compiled only, with figures that are worse
            than when it was found, or not better any more than those of the kernel as it is).
        gain: time of the plain configuration divided by its own, now; None if it was not measured.
        reason: why it is not ok.
    """

    finding: Finding
    status: str
    gain: float | None = None
    reason: str = ""

    def __str__(self) -> str:
        gain = "" if self.gain is None else f", {self.gain:.3f}x now, {self.finding.gain or 1.0:.3f}x when found"
        gain = (
            gain if self.finding.checked else f", compiled only, never run or checked ({_shown(self.finding.figures)})"
        )
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.finding.kernel}, {self.finding.target}, {self.finding.shapes}: {self.status}{gain}{reason}"


def verify(
    path: str | os.PathLike[str], *, least: float = 1 - _NOISE, seeds: int = 2, run_timeout: float | None = 120.0
) -> Iterator[Verdict]:
    """Checks each finding in a file: its results on launches with new random contents, and its gain.

    A finding that was compiled only is compiled again, on any machine, and its figures are compared.

    Args:
        path: the file.
        least: the least gain against the fastest configuration without edits that is ok; 0: any.
        seeds: with how many seeds the launches are made.
        run_timeout: seconds for the checks and for the measurement of one finding.

    Yields:
        A verdict for each finding.

    Raises:
        TritonExtError: the file cannot be read.
    """
    # One process for all that run, and one for those that are compiled only, which has another driver.
    pools = {is_run: Pools(None, 0) for is_run in (True, False)}
    try:
        for finding in findings(path):
            own = pools[finding.checked]
            try:
                yield _verdict(Path(path).parent, finding, own, least=least, seeds=seeds, run_timeout=run_timeout)
            except TritonExtError as error:
                yield Verdict(finding, "broken", reason=str(error))
    finally:
        for each in pools.values():
            each.close()


def _verdict(
    directory: Path, finding: Finding, pools: Pools, *, least: float, seeds: int, run_timeout: float | None
) -> Verdict:
    if not finding.checked:
        return _verdict_of_figures(_task(directory, finding, run_timeout), finding, pools)
    task = _task(directory, finding, run_timeout)
    wanted, here = finding.target.partition(":")[0], _here(finding.target)
    if here is not None:
        return Verdict(finding, "not here", reason=here)
    key = state(Pipeline.parse(finding.edits))
    # Bits were compared with those of the default configuration.
    is_default = all(finding.launch.get(name) == value for name, value in task.configs[0].items() if value is not None)
    candidate = Candidate(finding.launch, finding.edits, key, finding.exact and is_default)
    plain = Candidate(finding.plain_launch, "", "", exact=False)
    for seed in range(100, 100 + seeds):
        measured = _measured(pools, Assignment(replace(task, seed=seed, group=uuid.uuid4().hex), candidate))
        if measured.outcome.status == "wrong result":
            return Verdict(finding, "wrong", reason=measured.outcome.reason)
        if measured.outcome.status != "ok":
            return Verdict(finding, "broken", reason=f"{measured.outcome.status}: {measured.outcome.reason}")
    gain = 1.0
    if (finding.edits, finding.launch) != ("", finding.plain_launch):
        for _ in range(_ATTEMPTS):  # on a busy machine one comparison may go either way
            measured = _measured(pools, Assignment(task, candidate, (plain,), _ROUNDS))
            if measured.outcome.status != "ok":
                return Verdict(finding, "broken", reason=f"{measured.outcome.status}: {measured.outcome.reason}")
            gain = measured.compared[0] / measured.outcome.milliseconds[0]
            if gain >= least:
                break
    if gain < least:
        return Verdict(finding, "slower", gain, f"expected at least {least:g}x on {wanted}")
    return Verdict(finding, "ok", gain)


def _task(directory: Path, finding: Finding, run_timeout: float | None) -> Task:
    if finding.source is None:
        raise TritonExtError(
            "it does not say where its kernel and inputs are", fix="search with global functions of a file"
        )
    kernel, inputs, grid, *reference = (*finding.source, *([] if finding.checked else ["=null", "=[]"]))
    loaded = _global(directory, kernel)
    return Task(
        group=uuid.uuid4().hex,
        kernel=find_name(loaded),
        grid=FunctionRef(pickled=pickle.dumps(json.loads(grid[1:])))
        if grid.startswith("=")
        else _refer(directory, grid),
        inputs=_refer(directory, inputs) if finding.checked else FunctionRef(),
        reference=_refer(directory, reference[0]) if reference else None,
        configs=tuple(declared_configs(loaded)) or (finding.plain_launch,),
        target=own_target(finding.target.partition(":")[0]) or finding.target,
        seed=100,
        tolerance=finding.tolerance,
        unaligned=finding.unaligned,
        compile_timeout=60.0,
        run_timeout=run_timeout,
        sender=process(),
        described=None if finding.signature is None else (finding.signature,),
    )


def _global(directory: Path, where: str) -> Any:
    file, _, name = where.rpartition(":")
    return load_kernel(str(directory / file), name)


def _refer(directory: Path, where: str) -> FunctionRef:
    return refer_to(where, _global(directory, where))


def _here(target: str) -> str | None:
    """Returns why findings for `target` cannot be checked on this machine; None if they can."""
    own = own_target(target.partition(":")[0])
    try:
        current = find_target(own)
    except TritonExtError:
        return "this machine has no GPU"
    found = label_of(current)
    return None if own or found == target else f"this machine has {found}"


def _measured(pools: Pools, job: Assignment) -> Measured:
    (result,) = pools.measure(measure_candidate, {0: job}).values()
    return measured_of(result)


def _verdict_of_figures(task: Task, finding: Finding, pools: Pools) -> Verdict:
    """Compiles a finding of a search that ran nothing, and compares its figures with those in the file."""
    compiled = []
    for launch, edits in ((finding.launch, finding.edits), (finding.plain_launch, "")):
        candidate = Candidate(launch, edits, state(Pipeline.parse(edits)))
        (result,) = pools.compile(
            compile_candidate, {0: Assignment(task, candidate, described=task.described)}
        ).values()
        if not isinstance(result, Compiled) or result.outcome.status != "ok":
            outcome = result.outcome if isinstance(result, Compiled) else outcome_of(result)
            return Verdict(finding, "broken", reason=f"{outcome.status}: {outcome.reason}")
        compiled.append(values_of(finding.figures, None, result.figures))
    names = list(finding.figures)
    own, plain = (dict(zip(names, values, strict=True)) for values in compiled)
    # Times of compilations are compared with nothing: they are another machine's.
    worse = [n for n in names if n != "compile_time" and own[n] > finding.figures[n]]
    if worse:
        return Verdict(finding, "worse", reason=f"now {_shown({n: own[n] for n in worse})}")
    first = names[0]
    had_gain = finding.figures[first] < finding.plain_figures[first]
    if had_gain and first != "compile_time" and own[first] >= plain[first]:
        return Verdict(finding, "worse", reason=f"without edits {_shown({first: plain[first]})} now, too")
    return Verdict(finding, "ok")


def _shown(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{column_of(name)} {number_text(value)}" for name, value in figures.items())
