# SPDX-License-Identifier: Apache-2.0
"""Every stride that the plan claims of a tensor holds for every input: random programs on tensors of integers of 4 and
8 bits and of pointers, interpreted for all of them. And each wrong rule of `facts_mutations` is noticed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import facts_mutations
import pytest
from facts_programs import signed
from facts_remarks import remarks
from strides_programs import Program, differences, program

BATCHES, PER_BATCH = 3, 150


@cache
def batch(seed: int) -> list[Program]:
    random = Random(seed)
    return [program(random, f"f{n}") for n in range(PER_BATCH)]


def wrong(programs: list[Program], library: Path, mutant: str = "") -> tuple[list[str], int]:
    """The claims that an input refutes, and how many say that there is a stride."""
    refuted, strides = [], 0
    claimed = remarks([made.text() for made in programs], library, mutant)
    for made, claims in zip(programs, claimed, strict=True):
        for value, defined in made.checked:
            _, *claim = claims[value.line].split()
            assert len(claim) == len(value.shape), claims[value.line]
            for axis, stride in enumerate(claim):
                if stride == "?":
                    continue
                strides += int(stride) != 0
                apart = differences(value.numbers, axis) - int(stride) * (value.step or 1)
                isWrong = (signed(apart, value.width) if value.width < 64 else apart) != 0
                isWrong = isWrong[defined] & ~value.torn[axis][defined]
                # A number of a type has one stride of several that are equal modulo 2^width.
                isOut = value.width < 64 and int(stride) != signed(int(stride), value.width)
                if isOut or isWrong.any():
                    refuted.append(f"{value.name}: {claims[value.line]}, dimension {axis}\n{made.text()}")
    return refuted, strides


@pytest.mark.parametrize("seed", range(BATCHES))
def test_strides_hold(seed: int, facts_pass: Path) -> None:
    refuted, strides = wrong(batch(seed), facts_pass)
    assert not refuted, refuted[0]
    # Of some 3,000 dimensions; to claim nothing is not to be right.
    assert strides > 500


@pytest.mark.parametrize("name", facts_mutations.STRIDES)
def test_a_wrong_rule_is_noticed(name: str, facts_pass: Path) -> None:
    assert any(wrong(batch(seed), facts_pass, name)[0] for seed in range(BATCHES))
