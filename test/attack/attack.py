# SPDX-License-Identifier: Apache-2.0
"""What an attack is.

Each file `attack_<area>.py` beside this one has `ATTACKS: list[Attack]`. A test runs them at a small scale, and
`make attack` at a large one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """How an attack went.

    Attributes:
        tried: number of attempts.
        got_through: number of attempts that did what must not happen.
        note: one line for the table, such as how long the slowest attempt took.
    """

    tried: int
    got_through: int
    note: str = ""


@dataclass(frozen=True)
class Attack:
    """One way to attack the project.

    Attributes:
        name: what it is, for the table.
        run: tries it. Takes the source of randomness and the scale, which bounds the number of attempts.
    """

    name: str
    run: Callable[[random.Random, int], Outcome]
