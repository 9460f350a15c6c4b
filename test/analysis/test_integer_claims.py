# SPDX-License-Identifier: Apache-2.0
"""Every fact that an analysis claims of an integer holds for every input, and each unsound rule of `integer_mutations`
is noticed. The tests interpret random programs of arith, tt and scf, on integers of 4 to 8 bits, for all inputs.
``benchmarks/integer_facts.py`` runs any number of programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import triton

from support.analysis import integer_claims, integer_mutations

PER_BATCH, BATCHES = 200, max(integer_claims.SHAPES.values()) + 1
PER_KERNEL, KERNELS, SEEDS_ON_CPU = 50, 2, 3  # the time to compile a kernel grows faster than the kernel
#: The least number of claims that say something in a batch, by kind. An analysis that claims nothing must not pass.
LEAST = {"F divisor": 800, "F range": 800, "W divisor": 1500, "W stride": 600, "W not negative": 1200}
LEAST |= {"N as W": 1500, "M multiple": 600, "L order": 1000, "S affine": 150, "S exact": 100}
LEAST |= {"C condition": 80, "C exact condition": 30, "O offsets": 400, "P pointers": 50, "K mask": 20}


@cache
def batch(seed: int) -> list[integer_claims.Run]:
    return integer_claims.run(seed, PER_BATCH)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Builds the pass that prints claims, with every unsound rule behind a switch, and returns its library.

    At the end it drops the runs, 4 GB: with them, each collection of garbage in this process takes seconds.
    """
    mutations = {name: mutation for name, (_, mutation) in integer_mutations.MUTATIONS.items()}
    yield integer_claims.build_pass(tmp_path_factory.mktemp("claims"), mutations)
    batch.cache_clear()
    sound.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(BATCHES))
def test_claims_hold(seed: int, library: Path) -> None:
    said = Counter[str]()
    found = integer_claims.claims([this.program.text() for this in batch(seed)], library)
    refuted = next(integer_claims.refuted(batch(seed), found, said), "")
    assert not refuted, refuted
    assert not {name: said[name] for name, least in LEAST.items() if said[name] < least}


BROKEN_FLAGS = """tt.func @f0() {
%0 = tt.make_range {start = 3 : i32, end = 19 : i32} : tensor<16xi32>
%1 = arith.trunci %0 : tensor<16xi32> to tensor<16xi8>
%2 = arith.constant dense<-2> : tensor<16xi8>
%3 = arith.subi %1, %2 overflow<nsw, nuw> : tensor<16xi8>
%4 = arith.divsi %3, %3 : tensor<16xi8>
tt.return
}
"""


@pytest.mark.slow
def test_a_number_that_cannot_be_has_a_range(library: Path) -> None:
    """No operand keeps the flags of the difference. For MLIR the range of the difference is empty, and a division by it
    fails an assertion."""
    ((*_, claim),) = integer_claims.claims([BROKEN_FLAGS], library, ("facts",))
    assert claim.kind == "F"


@pytest.mark.slow
@pytest.mark.keeps_kernels
@pytest.mark.parametrize("seed", range(SEEDS_ON_CPU))
def test_the_cpu_computes_the_same(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    driver = pytest.importorskip("triton_ext.backends.cpu.driver")
    from support.analysis import integer_kernels

    monkeypatch.setattr(triton.runtime.driver, "_active", driver.CPUDriver())
    runs = integer_claims.run(seed, KERNELS * PER_KERNEL, index=False)
    compared = 0
    for first in range(0, len(runs), PER_KERNEL):
        wrong_values, count = integer_kernels.compare(runs[first : first + PER_KERNEL], tmp_path)
        assert not wrong_values, wrong_values[0]
        compared += count
    assert compared > 1000 * len(runs)


@cache
def sound(seed: int, library: Path, client: str) -> list[list[integer_claims.Claim]]:
    """Returns the claims without an unsound rule, which `test_claims_hold` checks."""
    return integer_claims.claims([this.program.text() for this in batch(seed)], library, (client,))


def is_noticed(name: str, library: Path, seed: int, count: int) -> bool:
    """Returns whether an input refutes a claim that the unsound rule changes, in the first programs of a batch."""
    client, _ = integer_mutations.MUTATIONS[name]
    runs = batch(seed)[:count]
    try:
        found = integer_claims.claims([this.program.text() for this in runs], library, (client,), name)
    except integer_claims.Crash:  # an assertion of the compiler
        return True
    changed = [
        [claim for claim in new if claim not in old]
        for new, old in zip(found, sound(seed, library, client)[:count], strict=True)
    ]
    return any(True for _ in integer_claims.refuted(runs, changed, Counter()))


@pytest.mark.slow
@pytest.mark.parametrize("name", integer_mutations.MUTATIONS)
def test_an_unsound_rule_is_noticed(name: str, library: Path) -> None:
    few = (0, 40)  # seed and number of programs: enough for most rules
    # The last batches are the richest. Two of the rules are noticed in no batch but 3, or 8 and 1.
    first = [BATCHES - 1, 3, 8]
    seeds = [*first, *(seed for seed in reversed(range(BATCHES)) if seed not in first)]
    tries = [few, *((seed, PER_BATCH) for seed in seeds)]
    assert any(is_noticed(name, library, *one) for one in tries), "no claim of it is refuted"
