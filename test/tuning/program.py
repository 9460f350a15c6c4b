# SPDX-License-Identifier: Apache-2.0
"""A program that tunes its own kernel in other processes; `test_executor` runs it."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import triton

import triton_ext as tx
from support.tuning import standin, tuned

standin.activate()
standin.COMPUTE["mine"] = standin.scale


@tx.autotune(
    tuned.CONFIGS,
    ["n"],
    pipelines={"plain": tx.Pipeline()} | {name: tuned.renamed(name, "mine") for name in ("fast", "slow")},
    do_bench=standin.Bench(tuned.TIMES),
    arguments=tuned.make_arguments,
)
@triton.jit
def mine(x, y, n, BLOCK: triton.language.constexpr):
    """y = 2 * x."""
    i = triton.language.arange(0, BLOCK)
    triton.language.store(y + i, 2 * triton.language.load(x + i, mask=i < n), mask=i < n)


if __name__ == "__main__":
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        mine.executor = pool
        mine[(1,)](tuned.ones(), tuned.ones(), 32)
    print(standin.launches[-1][0], len(standin.launches), len(mine.tuning_report.rows), mine.best_config.pipeline)
