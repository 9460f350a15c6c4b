# SPDX-License-Identifier: Apache-2.0
"""Differential execution of `loop_split` on many random loops, over all cores: prints how many were compared, or the
first that the pass changes. With ``--log`` it goes on where it was stopped, as long as the library is the same.

    .venv/bin/python benchmarks/loop_split_cases.py --cases 100000 --log cases.log
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from support.loop_split import programs
from triton_ext.support import resources

PER_BATCH = 250


def batch(seed: int) -> tuple[int, programs.Outcome]:
    random = Random(seed)
    options = random.choice(["", "", *programs.OPTIONS])
    return seed, programs.check([programs.program(random, f"f{n}", options) for n in range(PER_BATCH)], options)


def state() -> str:
    """Returns a key of the library and the programs for which the results in a log are valid."""
    made_of = [resources.library_dir() / "libtriton_ext_loop_split.so", Path(programs.__file__)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in made_of)).hexdigest()[:16]


def logged(log: Path | None) -> dict[int, programs.Outcome]:
    """Returns the batches that are done, by seed."""
    lines = log.read_text().splitlines() if log is not None and log.exists() else []
    done = (line.split() for line in lines)
    return {int(seed): programs.Outcome(*map(int, rest)) for key, seed, *rest in done if key == state()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", type=Path, help="where to keep what is done")
    arguments = parser.parse_args()
    start, key = time.perf_counter(), state()
    done = logged(arguments.log)
    total, batches = sum(done.values(), programs.Outcome()), len(done)
    seeds = (seed for seed in count(arguments.seed) if seed not in done)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        while total.cases < arguments.cases:
            for seed, outcome in pool.map(batch, [next(seeds) for _ in range(arguments.jobs)]):
                total += outcome
                batches += 1
                if arguments.log is not None:
                    with arguments.log.open("a") as out:
                        out.write(f"{key} {seed} {outcome.cases} {outcome.split} {outcome.vacuous}\n")
            print(f"\r{total.cases} cases", end="", file=sys.stderr, flush=True)
    print(
        f"\n{total.cases} cases of {batches * PER_BATCH} programs agree; {total.split} programs were split, "
        f"{total.vacuous} cases have no meaning; {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
