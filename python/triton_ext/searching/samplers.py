# SPDX-License-Identifier: Apache-2.0
"""Samplers for Optuna that know the default: most kernels compile only near it.

`random` turns a few knobs of the default, `climb` turns knobs of the best so far, `grid` goes through the space in the
order of the number of knobs that differ from the default. `tpe` first turns each knob alone; then each candidate gets
the values of Optuna's TPE for a few knobs, and those of the best so far for all others.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import TritonExtError
from ..support.shown import shown
from .optimiser import optuna
from .spaces import Space

if TYPE_CHECKING:
    from .knobs import Knob, Value

SamplerName = Literal["tpe", "random", "grid", "climb"]
#: How many knobs a random candidate turns on average.
_TURNED = 2.5
#: After this many proposals in a row that were tried before, the model is not asked: it would repeat itself.
_REPEATS = 4

#: From the number of a trial and the study, the values of some knobs.
Propose = Callable[[int, Any], dict[str, Any]]


class Learned:
    """The results of a study by single knobs.

    Attributes:
        avoided: name, type and value of knobs which alone make no candidate: it fails, or the binary stays the same.
        tried: name, type and value of knobs in any candidate.
        in_vain: how many proposals in a row made no new candidate.
    """

    def __init__(self) -> None:
        self.avoided: set[tuple[str, str, Value]] = set()
        self.tried: set[tuple[str, str, Value]] = set()
        self.in_vain = 0

    def avoids(self, name: str, value: Value) -> bool:
        """Whether there is no use in giving the knob this value."""
        return (name, type(value).__name__, value) in self.avoided


def sampler_named(name: str, space: Space, seed: int, learned: Learned) -> Any:
    """Returns a sampler of Optuna for `space`.

    Raises:
        TritonExtError: there is no such sampler.
    """
    known = get_args(SamplerName)
    if name not in known:
        raise TritonExtError(f"no sampler {shown(name)}, expected one of {', '.join(known)}")
    module = optuna()

    class Proposed(module.samplers.BaseSampler):  # type: ignore[misc, name-defined]
        """Proposes whole candidates; for the knobs that a proposal leaves out, another sampler is asked."""

        def __init__(self, propose: Propose, other: Any = None) -> None:
            self._propose = propose
            self._other = other
            self._values: dict[int, dict[str, Any]] = {}

        def reseed_rng(self) -> None:
            """Is called by Optuna for parallel workers, which get their seed from the trial's number here."""

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:  # noqa: ARG002
            return {}

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:  # noqa: ARG002
            return {}

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            if trial.number not in self._values:
                self._values = {trial.number: self._propose(trial.number, study)}
            values = self._values[trial.number]
            if param_name in values:
                return values[param_name]
            value = self._other.sample_independent(study, trial, param_name, param_distribution)
            return space.knob(param_name).default if learned.avoids(param_name, value) else value

        def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
            if self._other is not None:
                self._other.after_trial(study, trial, state, values)

    if name == "grid":
        return Proposed(_Grid(space))
    if name == "tpe":
        tpe = module.samplers.TPESampler(seed=seed, constant_liar=True, n_startup_trials=0)
        return Proposed(functools.partial(_for_tpe, space, seed, learned), tpe)
    return Proposed(functools.partial(_neighbour if name == "climb" else _near_default, space, seed, learned))


def _best_params(study: Any) -> dict[str, Any]:
    done = [t for t in study.get_trials(deepcopy=False) if t.state.is_finished() and t.values]
    if not done:
        return {}
    sign = 1 if study.directions[0].name == "MINIMIZE" else -1
    best = min(done, key=lambda t: sign * t.values[0])
    return dict(best.params)


def _near_default(
    space: Space,
    seed: int,
    learned: Learned,
    number: int,
    study: Any,  # noqa: ARG001 - as for the others
) -> dict[str, Any]:
    """Returns the default with a few knobs turned at random."""
    generator = random.Random(f"{seed}:{number}")
    values = space.default
    turned = max(1, min(len(space.knobs), round(generator.expovariate(1 / _TURNED))))
    for knob in generator.sample(space.knobs, turned):
        _turn(space, knob, values, generator, learned)
    return values


def _neighbour(space: Space, seed: int, learned: Learned, number: int, study: Any) -> dict[str, Any]:
    """Returns the best so far with one knob turned, now and then two."""
    generator = random.Random(f"{seed}:{number}")
    values = space.default | _best_params(study)
    for knob in generator.sample(space.knobs, min(len(space.knobs), generator.choice((1, 1, 2)))):
        _turn(space, knob, values, generator, learned)
    return values


def _for_tpe(space: Space, seed: int, learned: Learned, number: int, study: Any) -> dict[str, Any]:
    """Returns the default with one knob turned; once each was turned, the best so far without a few knobs.

    Where that repeats itself, it is the best so far with a few knobs turned at random.
    """
    generator = random.Random(f"{seed}:{number}")
    if number <= len(space.knobs):
        values = space.default
        _turn(space, space.knobs[number % len(space.knobs)], values, generator, learned)
        return values
    values = space.default | _best_params(study)
    if number % 2 == 0:  # half of the trials turn one knob of the best to a value that was not tried yet
        others = [(k, c) for k in space.knobs for c in k.choices if (k.name, type(c).__name__, c) not in learned.tried]
        others = [(k, c) for k, c in others if c != k.default and not learned.avoids(k.name, c)]
        if others:
            knob, values[knob.name] = generator.choice(others)
            return values
    turned = max(2, min(len(space.knobs), round(generator.expovariate(1 / (2 * _TURNED)))))
    for knob in generator.sample(space.knobs, turned):
        if learned.in_vain >= _REPEATS:
            _turn(space, knob, values, generator, learned)
        else:
            values.pop(knob.name)
    return values


def _turn(space: Space, knob: Knob, values: dict[str, Value], generator: random.Random, learned: Learned) -> None:
    """Gives `knob` another value; an option also places its pass, without which it has no effect."""
    others = [c for c in knob.choices if not (type(c) is type(values[knob.name]) and c == values[knob.name])]
    others = [c for c in others if not learned.avoids(knob.name, c)]
    if not others:
        return
    if (
        knob.kind == "extension option"
        and knob.place in values
        and values[knob.place] == space.knob(knob.place).default
    ):
        places = [c for c in space.knob(knob.place).choices[1:] if not learned.avoids(knob.place, c)]
        if not places:
            return
        values[knob.place] = generator.choice(places)
    values[knob.name] = generator.choice(others)


class _Grid:
    """All candidates, first the default, then those in which one knob differs, then two, and so on.

    The number of a trial chooses, so that processes choose differently. At the end come the candidates that no trial
    has tried: their process died, or a trial with another candidate got their number.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._all = self._in_order()
        self._made: list[dict[str, Any]] = []

    def __call__(self, number: int, study: Any) -> dict[str, Any]:
        while len(self._made) <= number and (values := next(self._all, None)) is not None:
            self._made.append(values)
        if number < len(self._made):
            return dict(self._made[number])
        had = [{**t.system_attrs.get("fixed_params", {}), **t.params} for t in study.get_trials(deepcopy=False)]
        return dict(next((values for values in self._made if values not in had), self._space.default))

    def _in_order(self) -> Iterator[dict[str, Any]]:
        default = self._space.default
        for turned in range(len(self._space.knobs) + 1):
            for knobs in itertools.combinations(self._space.knobs, turned):
                others = ([c for c in k.choices if c is not k.default and c != k.default] for k in knobs)
                for choice in itertools.product(*others):
                    values = default | dict(zip((k.name for k in knobs), choice, strict=True))
                    if len(self._space.changed(values)) == turned:
                        yield values
