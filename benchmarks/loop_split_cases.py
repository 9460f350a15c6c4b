# SPDX-License-Identifier: Apache-2.0
"""Differential execution of `loop_split` on many random loops, over all cores: prints how many were compared, or the
first that the pass changes.

    .venv/bin/python benchmarks/loop_split_cases.py --cases 100000
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "loop_split"))
import programs

PER_BATCH = 250


def batch(seed: int) -> programs.Outcome:
    random = Random(seed)
    options = random.choice(["", "", *programs.OPTIONS])
    return programs.check([programs.program(random, f"f{n}") for n in range(PER_BATCH)], options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    total, batches, start = programs.Outcome(), 0, time.perf_counter()
    seeds = count(arguments.seed)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        while total.cases < arguments.cases:
            for outcome in pool.map(batch, [next(seeds) for _ in range(arguments.jobs)]):
                total += outcome
                batches += 1
            print(f"\r{total.cases} cases", end="", file=sys.stderr, flush=True)
    print(
        f"\n{total.cases} cases of {batches * PER_BATCH} programs agree; {total.split} programs were split, "
        f"{total.vacuous} cases have no meaning; {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
