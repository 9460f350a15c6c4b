# SPDX-License-Identifier: Apache-2.0
"""Every fact that the lowering claims of an integer holds for every input: random programs on integers of 2 to 11 bits,
interpreted for all of them. And each unsound rule of `facts_mutations` is noticed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

import facts_mutations
import numpy as np
import pytest
from facts_programs import Program, program
from facts_remarks import remarks

BATCHES, PER_BATCH = 4, 150
CLAIM = re.compile(r"(?:value|loop): divisor (\d+), limit (\S+)")


@cache
def batch(seed: int) -> list[Program]:
    random = Random(seed)
    return [program(random, f"f{n}") for n in range(PER_BATCH)]


def wrong(programs: list[Program], library: Path, mutant: str = "") -> tuple[list[str], int, int]:
    """The claims that an input refutes; how many say more than nothing, of divisors and of limits."""
    refuted, divisors, limits = [], 0, 0
    claimed = remarks([made.text() for made in programs], library, mutant)
    for made, claims in zip(programs, claimed, strict=True):
        for value, defined in made.checked:
            match = CLAIM.fullmatch(claims[value.line])
            assert match, claims[value.line]
            divisor, limit = int(match[1]), None if match[2] == "none" else int(match[2])
            numbers = value.numbers[defined]
            divisors += divisor > 1
            limits += limit is not None
            isRight = (numbers % divisor == 0).all()
            if limit is not None:
                isRight &= bool(((numbers >= 0) & (numbers <= limit)).all())
            if not isRight:
                seen = f"{numbers.min()} to {numbers.max()}, divisor {np.gcd.reduce(numbers)}"
                refuted.append(f"{value.name}: divisor {divisor}, limit {limit}, but {seen}\n{made.text()}")
    return refuted, divisors, limits


@pytest.mark.parametrize("seed", range(BATCHES))
def test_claims_hold(seed: int, facts_pass: Path) -> None:
    refuted, divisors, limits = wrong(batch(seed), facts_pass)
    assert not refuted, refuted[0]
    # Of some 1,900 values; to claim nothing is not to be right.
    assert divisors > 400 and limits > 300


@pytest.mark.parametrize("name", facts_mutations.FACTS)
def test_an_unsound_rule_is_noticed(name: str, facts_pass: Path) -> None:
    assert any(wrong(batch(seed), facts_pass, name)[0] for seed in range(BATCHES))
