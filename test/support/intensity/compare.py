# SPDX-License-Identifier: Apache-2.0
"""Compares what `tx.intensity` says of launches with what was counted when they ran."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import triton_ext as tx
from support import modules
from support.interpreter import run_in_interpreter

from .kernels import Case

_COUNT = Path(__file__).with_name("count.py")


def launches_of(file: Path, seed: int, each: int) -> Iterator[Case]:
    """Yields `each` launches of each kernel in a module that `generated` has written."""
    module = modules.imported(file)
    rng = random.Random(seed)
    for name, kernel in sorted(vars(module).items()):
        if name.startswith("kernel"):
            for _ in range(each):
                sizes = {"n": rng.randint(-5, 40), "m": rng.randint(0, 12)}
                yield Case(kernel, sizes, (rng.randint(1, 3), rng.randint(1, 3)), ("flags",))


def counted(*arguments: object) -> list[dict[str, Any]]:
    """Returns what `count` prints for these arguments."""
    return json.loads(run_in_interpreter(str(_COUNT), *map(str, arguments)))  # type: ignore[arg-type]


def compare(cases: Iterable[Case], truth: list[dict[str, Any]], target: str = "cuda:90") -> Counter[str]:
    """Compares the numbers of all launches. Returns how many numbers were exact, upper bounds and unknown.

    Raises:
        AssertionError: an exact number differs, or an upper bound is below the truth.
    """
    marks: Counter[str] = Counter()
    known: dict[Any, tx.intensity.Intensity] = {}
    for case, ran in zip(cases, truth, strict=True):
        assert ran["sizes"] == case.sizes
        constexprs = {name: n for name, n in case.sizes.items() if name.isupper() and name not in "MNK"}
        key = (case.kernel, tuple(constexprs.items()))
        if key not in known:
            integers = {name: "i32" for name in case.sizes if name not in constexprs}
            types = {**case.pointers, **integers, **constexprs}
            known[key] = tx.intensity(case.kernel, signature=types, target=target)
        for what, amount in _amounts(known[key], case).items():
            marks[amount.mark] += 1
            marks[f"{case.kernel.__name__} {what} {amount.mark}"] += 1
            check(f"{case} {what}", amount, ran["found"].get(what, 0))
    return marks


def _amounts(found: tx.intensity.Intensity, case: Case) -> Mapping[str, tx.intensity.Amount]:
    values = {name: n for name, n in case.sizes.items() if name not in found.constants}
    flops = found.flops(grid=case.grid, **values).by_kind
    kinds = {kind: amount for (kind, _), amount in flops.items() if kind}
    if any(not kind for kind, _ in flops):
        kinds = {}
    return {
        "loads": found.loads(grid=case.grid, **values),
        "stores": found.stores(grid=case.grid, **values),
        "unique": found.unique(grid=case.grid, **values),
        **kinds,
    }


def check(what: str, amount: tx.intensity.Amount, truth: int) -> None:
    """Checks one number against the truth."""
    if amount.mark == "exact":
        assert amount.value == truth, f"{what}: {amount.value} is said to be exact, {truth} were counted"
    elif amount.mark == "upper bound":
        assert amount.value is not None
        assert amount.value >= truth, f"{what}: at most {amount.value}, but {truth} were counted"
    else:
        assert amount.value is None
        assert amount.reasons, what
