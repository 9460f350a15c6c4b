# SPDX-License-Identifier: Apache-2.0
"""Measures a candidate and the incumbent in turns."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from triton.runtime import driver

from ..pipeline.pipeline import Pipeline
from ..searching.figures import binary_hash
from ..searching.turns import turn
from ..tuning.outcome import device_name
from .answers import Answer, FailedError
from .checking import Trial
from .history import incumbent
from .inputs import cases_of, checked_options, kernel_at, unedited_options
from .requested import pipeline_of


def measure_kernel(
    *,
    root: str,
    kernel: str,
    inputs: str,
    grid: Sequence[int] | str | None,
    options: Mapping[str, Any] | None,
    pipeline: str,
    against: str,
    against_options: Mapping[str, Any] | None,
    storage: str | None,
    study: str | None,
    rounds: int,
    milliseconds: int,
    case: int | None,
) -> Answer:
    """Checks a candidate, then measures it and the incumbent in turns, so that slow changes affect both alike."""
    found = kernel_at(kernel)  # first, because a pipeline may name functions of modules beside it
    if study is not None:
        against_options, against = incumbent(storage, study)
    sides = [
        (checked_options(against_options), pipeline_of(against, root)),
        (checked_options(options), pipeline_of(pipeline, root)),
    ]
    cases = cases_of(inputs, grid)
    if case is not None:
        if not 1 <= case <= len(cases):
            raise FailedError("input error", f"case={case}: the inputs have launches 1 to {len(cases)}")
        cases = [cases[case - 1]]
    lines = [f"incumbent: {_named(*sides[0])}", f"candidate: {_named(*sides[1])}", f"on {device_name()}", ""]
    rows: list[dict[str, Any]] = []
    for each in cases:
        trial = Trial(found, each, unedited_options(found, each, sides[0][0] or sides[1][0]))
        for who, (given, edits) in zip(("incumbent", "candidate"), sides, strict=True):
            verdict = trial.verdict(given, edits)
            if verdict.problem:
                what = f"{each.name}: the {who} is wrong, so nothing was measured: {verdict.problem}"
                return Answer("\n".join([*lines, what]), "wrong result", {"wrong": who})
        with turn():
            row = _measured(trial, sides, rounds, milliseconds)
        rows.append({"launch": each.name, **row})
        lines.append(f"{each.name}: {_in_words(row)}")
    return Answer("\n".join(lines), figures={"launches": rows})


def _measured(
    trial: Trial, sides: list[tuple[dict[str, Any], Pipeline]], rounds: int, milliseconds: int
) -> dict[str, Any]:
    """Returns the medians of both sides in milliseconds, and the range of the ratio over the rounds."""
    bench = driver.active.get_benchmarker()
    try:
        binaries = [binary_hash(trial.run(given, edits)) for given, edits in sides]
        # With other constexprs the grid may be another one.
        constexprs = [{n: v for n, v in given.items() if n in trial.kernel.parameters} for given, _ in sides]
        if binaries[0] == binaries[1] and constexprs[0] == constexprs[1]:
            return {"same_binary": True, "speedup": 1.0}
        times: list[list[float]] = [[], []]
        for number in range(rounds):
            # Which side is first alternates, because the first one of a pair may find other caches and clocks.
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                given, edits = sides[side]
                with edits if edits.edits else contextlib.nullcontext():
                    once = _launcher(trial, given)
                    times[side].append(float(bench(once, warmup=milliseconds // 4, rep=milliseconds, quantiles=[0.5])))
    finally:
        trial.restore()
    ratios = sorted(incumbent / candidate for incumbent, candidate in zip(*times, strict=True))
    return {
        "incumbent_ms": statistics.median(times[0]),
        "candidate_ms": statistics.median(times[1]),
        "speedup": statistics.median(ratios),
        "lowest": ratios[0],
        "highest": ratios[-1],
        "rounds": rounds,
    }


def _launcher(trial: Trial, options: Mapping[str, Any]) -> Any:
    arguments = {**trial.case.arguments, **options}
    return lambda: trial.kernel.callable.run(grid=trial.case.grid, warmup=False, **arguments)


def _in_words(row: Mapping[str, Any]) -> str:
    if row.get("same_binary"):
        return "both compile to the same binary, so there is no difference to measure"
    verdict = "faster" if row["lowest"] > 1 else "slower" if row["highest"] < 1 else "no difference beyond the noise"
    times = f"incumbent {row['incumbent_ms']:.4g} ms, candidate {row['candidate_ms']:.4g} ms"
    spread = f"{row['lowest']:.3f} to {row['highest']:.3f} in {row['rounds']} rounds"
    return f"{times}, speedup {row['speedup']:.3f} ({spread}): {verdict}"


def _named(options: Mapping[str, Any], pipeline: Pipeline) -> str:
    text = ", ".join(f"{name}={value}" for name, value in options.items())
    return " ".join(filter(None, (str(pipeline) or "no edits", text and f"({text})")))
