# SPDX-License-Identifier: Apache-2.0
"""Studies of made-up kernels, whose candidates are told by tests and not compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from triton_ext.searching.history import Trial
from triton_ext.searching.knobs import Knob
from triton_ext.searching.optimiser import storage_of
from triton_ext.searching.samplers import Learned, sampler_named
from triton_ext.searching.spaces import Space
from triton_ext.searching.study import Study

#: A pass with an option, three passes to skip, and two knobs of launches.
KNOBS = (
    Knob("BLOCK", "constexpr", "int", (64, 128), 64, "block", "rounding"),
    Knob("num_warps", "launch option", "int", (1, 2, 4), 4, "warps", "rounding"),
    Knob("grow", "extension pass", "choice", ("off", "start"), "off", "grow", "no", texts=("", "ttir: at_start(@)")),
    Knob("grow.by", "extension option", "int", (1, 2, 3), 2, "how much", "no", place="grow"),
    *(
        Knob(f"skip {n}", "skip", "bool", (False, True), False, n, "no", place=n, texts=("", f"ttir: skip({n})"))
        for n in "abc"
    ),
)
SPACE = Space("made_up", "cpu:none", KNOBS)
ABOUT = {
    "kernel": "made_up",
    "target": "cpu:none",
    "device": "a device",
    "shapes": "x: float32[8]",
    "cases": ["launch 1"],
    "space": [knob.as_dict() for knob in KNOBS],
    "signature": None,
    "file": "made_up.py",
    "name": "made_up",
}


def study(
    storage: str | os.PathLike[str] | None = None,
    sampler: str = "random",
    objectives: Sequence[str] = ("time",),
    space: Space = SPACE,
    *,
    seed: int = 0,
    resume: bool = True,
    compile_only: bool = False,
) -> Study:
    """Returns a study of `space`."""
    learned = Learned()
    return Study(
        storage_of(storage),
        "made up",
        space,
        objectives,
        sampler=sampler_named(sampler, space, seed, learned),
        learned=learned,
        about={**ABOUT, "compile_only": compile_only},
        resume=resume,
    )


def trial_of(of: Study, number: int, values: dict[str, Any], **fields: Any) -> Trial:
    """Returns a trial with the values of a candidate; `fields` say how it ended."""
    return Trial(number, values=of.space.changed(values), launch=of.space.launch(values), **fields)


def tell_all(of: Study, count: int, outcome: Callable[[dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    """Asks for `count` candidates one by one, tells what `outcome` says of each, and returns their values."""
    asked: list[dict[str, Any]] = []
    for _ in range(count):
        for number, values in of.ask(1):
            changed = of.space.changed(values)
            asked.append(changed)
            of.tell(trial_of(of, number, values, **outcome(changed)))
    return asked


def timed(milliseconds: float, binary: str = "") -> dict[str, Any]:
    """Returns the fields of a valid trial."""
    return {"status": "ok", "milliseconds": milliseconds, "objectives": (milliseconds,), "binary": binary}
