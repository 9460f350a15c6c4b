# SPDX-License-Identifier: Apache-2.0
"""Every claim of the analyses of integers on many random programs, over all cores: prints how many programs and claims
there were, or the first claim that an input refutes. One program in ten runs on the CPU backend, too.

    .venv/bin/python benchmarks/integer_facts.py --programs 100000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "analysis"))
import integer_claims

PER_BATCH, BETWEEN = 200, 10


def batch(seed: int, library: Path) -> tuple[str, Counter[str]]:
    """Returns the first claim that does not hold, and the numbers of claims that say something, by kind."""
    runs = integer_claims.run(seed, PER_BATCH)
    said = Counter(programs=len(runs), inputs=sum(run.machine.bad.size for run in runs))
    found = integer_claims.claims([run.program.text() for run in runs], library)
    return next(integer_claims.refuted(runs, found, said), ""), said


def kernels(seed: int) -> tuple[str, Counter[str]]:
    """Returns the first value that the CPU backend computes otherwise, and how many have been compared."""
    import integer_kernels
    import triton
    from triton_ext.backends.cpu.driver import CPUDriver

    triton.runtime.driver.set_active(CPUDriver())
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        runs = integer_claims.run(seed, PER_BATCH // 2, index=False)
        wrong, compared = integer_kernels.compare(runs, Path(scratch))
    said = Counter({"programs on the CPU": len(runs), "elements on the CPU": compared})
    return next(iter(wrong), ""), said


def both(seed: int, library: Path) -> tuple[str, Counter[str]]:
    refuted, said = batch(seed, library)
    if not refuted and seed % (BETWEEN // 2) == 0:
        refuted, more = kernels(seed)
        said += more
    return refuted, said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1000, help="of the first batch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(arguments.jobs) as pool:
        library = integer_claims.build_pass(Path(scratch), {})
        start, total = time.perf_counter(), Counter[str]()
        count = -(-arguments.programs // PER_BATCH)
        seeds = range(arguments.seed, arguments.seed + count)
        for refuted, said in pool.map(both, seeds, [library] * count):
            if refuted:
                print(refuted)
                sys.exit(1)
            total += said
            if total["programs"] % (50 * PER_BATCH) == 0:
                print(f"{total['programs']} programs, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    numbers = [f"{number} {name}" for name, number in sorted(total.items())]
    print(f"no claim is refuted: {', '.join(numbers)}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
