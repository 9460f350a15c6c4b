# SPDX-License-Identifier: Apache-2.0
"""Every stride that the plan claims of a tensor holds for every input, and each wrong rule of `strides_mutations` is
noticed. The tests interpret random programs, on tensors of pointers and of integers of 4 and 8 bits, for all inputs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest

from support.cpu import strides_mutations
from support.cpu.strides_programs import Program, differences, program
from support.cpu.strides_remarks import remarks
from support.integers import signed

BATCHES, PER_BATCH = 3, 150


@cache
def batch(seed: int) -> list[Program]:
    random = Random(seed)
    return [program(random, f"f{n}") for n in range(PER_BATCH)]


def wrong(programs: list[Program], library: Path, mutant: str = "") -> tuple[list[str], int]:
    """Returns the claims that an input refutes, and the number of claims that name a stride."""
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
                # Of the strides that are equal modulo 2^width, a claim must name the one that the type can represent.
                isOut = value.width < 64 and int(stride) != signed(int(stride), value.width)
                if isOut or isWrong.any():
                    refuted.append(f"{value.name}: {claims[value.line]}, dimension {axis}\n{made.text()}")
    return refuted, strides


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(BATCHES))
def test_strides_hold(seed: int, strides_pass: Path) -> None:
    refuted, strides = wrong(batch(seed), strides_pass)
    assert not refuted, refuted[0]
    # There are about 3,000 dimensions. An analysis that claims nothing must not pass.
    assert strides > 500


@pytest.mark.slow
@pytest.mark.parametrize("name", strides_mutations.STRIDES)
def test_a_wrong_rule_is_noticed(name: str, strides_pass: Path) -> None:
    assert any(wrong(batch(seed), strides_pass, name)[0] for seed in range(BATCHES))
