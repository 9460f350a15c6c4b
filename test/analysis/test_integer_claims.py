# SPDX-License-Identifier: Apache-2.0
"""Every fact that an analysis claims of an integer holds for every input: random programs of arith, tt and scf on
integers of 4 to 8 bits, interpreted for all of them. And each unsound rule of `integer_mutations` is noticed.
``benchmarks/integer_facts.py`` runs as many programs as you like."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import integer_claims
import integer_mutations
import pytest
import triton

PER_BATCH, BATCHES = 200, integer_claims.TILES + 2
PER_KERNEL, ON_CPU = 100, 3
#: Claims that say something, of which there are at least so many in a batch: to claim nothing is not to be right.
LEAST = {"F divisor": 800, "F range": 800, "W divisor": 1500, "W stride": 600, "W not negative": 1200}
LEAST |= {"N as W": 1500, "M multiple": 600, "L order": 1000, "S affine": 150, "S exact": 100}
LEAST |= {"C condition": 80, "C exact condition": 30, "O offsets": 400, "P pointers": 50, "K mask": 20}


@cache
def batch(seed: int) -> list[integer_claims.Run]:
    return integer_claims.run(seed, PER_BATCH)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pass that prints claims, with every unsound rule behind a switch."""
    mutations = {name: mutation for name, (_, mutation) in integer_mutations.MUTATIONS.items()}
    return integer_claims.build_pass(tmp_path_factory.mktemp("claims"), mutations)


def wrong(
    runs: list[integer_claims.Run], library: Path, clients: tuple[str, ...], mutant: str = ""
) -> tuple[str, Counter[str]]:
    """Returns the first claim that an input refutes, and how many say something."""
    said = Counter[str]()
    found = integer_claims.claims([this.program.text() for this in runs], library, clients, mutant)
    return next(integer_claims.refuted(runs, found, said), ""), said


@pytest.mark.parametrize("seed", range(BATCHES))
def test_claims_hold(seed: int, library: Path) -> None:
    refuted, said = wrong(batch(seed), library, integer_claims.CLIENTS)
    assert not refuted, refuted
    assert not {name: said[name] for name, least in LEAST.items() if said[name] < least}


@pytest.mark.parametrize("seed", range(ON_CPU))
def test_the_cpu_computes_the_same(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    driver = pytest.importorskip("triton_ext.backends.cpu.driver")
    import integer_kernels

    monkeypatch.setattr(triton.runtime.driver, "_active", driver.CPUDriver())
    runs = integer_claims.run(seed, PER_KERNEL, index=False)
    wrong_values, compared = integer_kernels.compare(runs, tmp_path)
    assert not wrong_values, wrong_values[0]
    assert compared > 1000 * PER_KERNEL


@pytest.mark.slow
@pytest.mark.parametrize("name", integer_mutations.MUTATIONS)
def test_an_unsound_rule_is_noticed(name: str, library: Path) -> None:
    client, _ = integer_mutations.MUTATIONS[name]
    few = batch(0)[:40]  # enough for most rules
    for runs in (few, *(batch(seed) for seed in range(BATCHES))):
        try:
            if wrong(runs, library, (client,), name)[0]:
                return
        except integer_claims.Crash:  # an assertion of the compiler
            return
    pytest.fail("no claim of it is refuted")
