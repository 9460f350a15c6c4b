# SPDX-License-Identifier: Apache-2.0
"""Every claim of the analyses of integers on many random programs, over all cores: prints how many programs and claims
there were, or the first claim that an input refutes. One program in ten runs on the CPU backend, too.

    .venv/bin/python benchmarks/integer_facts.py --programs 100000 --log build/integer-facts.jsonl

Where no compiler is, such as on a borrowed host, give it the library that ``--build DIR`` has made elsewhere:

    .venv/bin/python benchmarks/integer_facts.py --build claims
    PYTHONPATH=python:TRITON python3 benchmarks/integer_facts.py --library claims/print_claims/build/NAME.so

A run that was interrupted goes on where it stopped if it is started again with the same log. The log belongs to one
state of the sources: delete it after a change.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from support.analysis import integer_claims

PER_BATCH, BETWEEN = 200, 10


def batch(seed: int, library: Path) -> tuple[str, Counter[str]]:
    """Returns the first claim that does not hold, and the numbers of claims that say something, by kind."""
    runs = integer_claims.run(seed, PER_BATCH)
    said = Counter(programs=len(runs), inputs=sum(run.machine.bad.size for run in runs))
    found = integer_claims.claims([run.program.text() for run in runs], library)
    return next(integer_claims.refuted(runs, found, said), ""), said


def kernels(seed: int) -> tuple[str, Counter[str]]:
    """Returns the first value that the CPU backend computes otherwise, and how many have been compared."""
    import triton
    from triton_ext.backends.cpu.driver import CPUDriver

    from support.analysis import integer_kernels

    triton.runtime.driver.set_active(CPUDriver())
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        runs = integer_claims.run(seed, PER_BATCH // 2, index=False)
        wrong, compared = integer_kernels.compare(runs, Path(scratch))
    said = Counter({"programs on the CPU": len(runs), "elements on the CPU": compared})
    return next(iter(wrong), ""), said


def kernels_in_a_child(seed: int) -> tuple[str, Counter[str]]:
    """As `kernels`, in a process of its own: an assertion of LLVM that ends it is counted, and the run goes on."""
    with ProcessPoolExecutor(1) as child:
        try:
            return child.submit(kernels, seed).result()
        except BrokenProcessPool:
            print(f"seed {seed}: compiling for the CPU ended the process", file=sys.stderr, flush=True)
            return "", Counter({"kernels whose compilation ended the process": 1})


def both(seed: int, library: Path) -> tuple[str, Counter[str]]:
    refuted, said = batch(seed, library)
    if not refuted and seed % (BETWEEN // 2) == 0:
        refuted, more = kernels_in_a_child(seed)
        said += more
    return refuted, said


def recorded(log: Path | None) -> dict[int, Counter[str]]:
    """Returns what `log` says of each batch, by seed."""
    if log is None or not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
    return {line.pop("seed"): Counter(line) for line in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1000, help="of the first batch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--build", type=Path, metavar="DIR", help="only build the library, in this new directory")
    parser.add_argument("--library", type=Path, help="a library that --build has made from the same sources")
    parser.add_argument("--log", type=Path, help="what each batch found; batches in it are not run again")
    arguments = parser.parse_args()
    if arguments.build:
        arguments.build.mkdir()
        print(integer_claims.build_pass(arguments.build, {}))
        return
    count = -(-arguments.programs // PER_BATCH)
    seeds = range(arguments.seed, arguments.seed + count)
    done = {seed: said for seed, said in recorded(arguments.log).items() if seed in seeds}
    total = sum(done.values(), Counter[str]())
    left = [seed for seed in seeds if seed not in done]
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(arguments.jobs) as pool:
        library = arguments.library or integer_claims.build_pass(Path(scratch), {})
        start = time.perf_counter()
        for seed, (refuted, said) in zip(left, pool.map(both, left, [library] * len(left)), strict=True):
            if refuted:
                print(f"REFUTED (seed {seed}): {refuted}")
                sys.exit(1)
            total += said
            if arguments.log:
                with arguments.log.open("a") as file:
                    file.write(json.dumps({"seed": seed, **said}) + "\n")
            if total["programs"] % (10 * PER_BATCH) == 0:
                print(f"{total['programs']} programs, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    checked = sum(number for name, number in total.items() if name[0] in integer_claims.CLIENT_OF and name[1] == " ")
    print(f"{total['programs']} programs, {checked} claims checked, 0 refuted, {time.perf_counter() - start:.0f} s")
    print(", ".join(f"{number} {name}" for name, number in sorted(total.items())))


if __name__ == "__main__":
    main()
