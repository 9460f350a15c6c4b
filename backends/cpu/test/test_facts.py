# SPDX-License-Identifier: Apache-2.0
"""Every fact that the lowering claims of an integer holds for every input: random programs on integers of 2 to 11 bits,
interpreted for all of them. And each unsound rule of `facts_mutations` is noticed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random

import facts_mutations
import numpy as np
import pytest
from facts_programs import Program, program

from triton_ext import build

CPU = Path(__file__).resolve().parent.parent
BATCHES, PER_BATCH = 4, 150
REMARK = re.compile(r"<stdin>:(\d+):\d+: remark: (?:value|loop): divisor (\d+), limit (\S+)")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pass that prints the facts of `lowering/Facts.cpp`, which has every mutation behind a switch."""
    source = tmp_path_factory.mktemp("facts") / "print_facts"
    shutil.copytree(CPU / "test" / "print_facts", source)
    shutil.copy(CPU / "lowering" / "Facts.h", source)
    (source / "Facts.cpp").write_text(facts_mutations.apply((CPU / "lowering" / "Facts.cpp").read_text()))
    build.build_tree(source, source / "build")
    return source / "build" / "libtriton_ext_print_facts.so"


@cache
def batch(seed: int) -> list[Program]:
    random = Random(seed)
    return [program(random, f"f{n}") for n in range(PER_BATCH)]


def claims(programs: list[Program], library: Path, mutant: str) -> list[dict[int, tuple[int, int | None]]]:
    """For each program: what is claimed of the value at each line, its divisor and its limit."""
    texts = [made.text() for made in programs]
    done = subprocess.run(
        [Path(sys.executable).with_name("triton-ext-opt"), "-", "-triton-ext-print-facts"],
        input="\n".join(texts),
        env={**os.environ, "TRITON_EXT_PATH": str(library), "TRITON_EXT_MUTANT": mutant},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[int, tuple[int, int | None]] = {}
    for line, divisor, limit in REMARK.findall(done.stderr):
        found[int(line)] = (int(divisor), None if limit == "none" else int(limit))
    result, first = [], 1
    for text in texts:
        size = text.count("\n") + 1
        result.append({line - first: claim for line, claim in found.items() if first <= line < first + size})
        first += size
    return result


def wrong(programs: list[Program], library: Path, mutant: str = "") -> tuple[list[str], int, int]:
    """The claims that an input refutes; how many say more than nothing, of divisors and of limits."""
    refuted, divisors, limits = [], 0, 0
    for made, claimed in zip(programs, claims(programs, library, mutant), strict=True):
        for value, defined in made.checked:
            divisor, limit = claimed[value.line]
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
def test_claims_hold(seed: int, library: Path) -> None:
    refuted, divisors, limits = wrong(batch(seed), library)
    assert not refuted, refuted[0]
    # Of some 1,900 values; to claim nothing is not to be right.
    assert divisors > 400 and limits > 300


@pytest.mark.parametrize("name", facts_mutations.MUTATIONS)
def test_an_unsound_rule_is_noticed(name: str, library: Path) -> None:
    assert any(wrong(batch(seed), library, name)[0] for seed in range(BATCHES))
