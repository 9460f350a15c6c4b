# SPDX-License-Identifier: Apache-2.0
"""Runs random kernels in both ways to linalg, and compares what they do to memory: all bits of it with each other, and
numbers with Triton's interpreter.

The kernels are those of `random_kernels`. Each runs through stock mlir-opt four times: in both ways, and with memory
that begins and memory that ends where the interpreter's accesses do, beside a page without access rights.

``python test/support/linalg/random_runs.py --begin 0 --end 1000`` prints a summary, and what is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import functools
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import triton

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import triton_ext as tx
from support import modules
from support.interpreter import run_in_interpreter
from support.linalg import exact_memory, execute, random_interpreted, random_kernels, random_launches
from support.linalg.random_launches import MARGIN, POINTERS, Done, Launch
from triton_ext.errors import PipelineError

WAYS: tuple[Literal["structured"] | None, ...] = (None, "structured")
#: The function of libdevice that the kernels call.
_LIBDEVICE = "#include <math.h>\nfloat __nv_tanhf(float x) { return tanhf(x); }\n"
#: How far numbers may be from the interpreter's, whose functions and products round differently.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Ran:
    """What became of the kernel of `seed`.

    Attributes:
        refused: why both ways refuse it, with its line; or "".
        wrong: what differs between the ways, or crosses their promises; or "".
        not_interpreted: why the interpreter does not say what the kernel does; or "".
        differs: where the memory differs from the interpreter's; or "".
        undefined: how many elements are undefined, and so not compared with the interpreter.
    """

    seed: int
    refused: str = ""
    wrong: str = ""
    not_interpreted: str = ""
    differs: str = ""
    undefined: int = 0


def check(seeds: range) -> list[Ran]:
    """Runs the kernels of `seeds` in this process, and in another one with the interpreter."""
    torch.set_num_threads(1)  # a process that was forked has no threads of OpenMP, but waits for them
    with tempfile.TemporaryDirectory() as directory:
        file = random_kernels.write(seeds, Path(directory))
        expected = interpreted(seeds, file)
        module = modules.imported(file)
        return [compare(getattr(module, f"random_{seed}"), seed, expected[seed]) for seed in seeds]


def interpreted(seeds: range, file: Path) -> dict[int, Done | str]:
    """Returns for each seed what its kernel in the file does in the interpreter, or why that cannot say so."""
    found = file.with_suffix(".pt")
    run_in_interpreter(random_interpreted.__file__, *map(Path, (str(seeds.start), str(seeds.stop))), file, found)
    return dict(torch.load(found, weights_only=False))


def compare(kernel: triton.JITFunction, seed: int, expected: Done | str) -> Ran:
    """Runs a kernel in both ways and compares what it does."""
    texts, refused = zip(*(lowered(kernel, via) for via in WAYS), strict=True)
    if any(refused):
        if refused[0] != refused[1]:
            return Ran(seed, wrong=f"the ways refuse it with {refused}")
        located = random_kernels.located(refused[0])
        return Ran(seed, refused=located) if located else Ran(seed, wrong=f"no line: {refused[0]}")
    launch = random_launches.draw(seed, 0) if isinstance(expected, str) else expected.launch
    accessed = dict.fromkeys(POINTERS, (-MARGIN, MARGIN)) if isinstance(expected, str) else expected.accessed
    name, more = kernel.__name__, _libdevice()
    functions = [getattr(execute.build(execute.to_llvm(text), name, more), name) for text in texts]
    with _silent():
        results = [run(function, launch, accessed, at_end) for function in functions for at_end in (False, True)]
    for result in results[1:]:
        for name in POINTERS:
            if bad := int((~random_launches.equal_bits(result[name], results[0][name])).sum()):
                return Ran(seed, wrong=f"{bad} elements of {name} differ between two of the four runs")
    if isinstance(expected, str):
        return Ran(seed, not_interpreted=expected)
    undefined = sum(int((~defined).sum()) for defined in expected.defined.values())
    return Ran(seed, differs=_differs(results[0], expected), undefined=undefined)


def _differs(found: dict[str, torch.Tensor], expected: Done) -> str:
    texts = []
    for name in POINTERS:
        one, other = (each[name][expected.defined[name]].double() for each in (found, expected.found))
        near = torch.isclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        if not near.all():
            texts.append(f"{int((~near).sum())} elements of {name}: {one[~near][:3]}, {other[~near][:3]}")
    return "; ".join(texts)


@functools.cache
def _libdevice() -> Path:
    file = execute.scratch() / "libdevice.c"
    file.write_text(_LIBDEVICE)
    return file


def lowered(kernel: triton.JITFunction, via: Literal["structured"] | None) -> tuple[str, str]:
    """Returns the module for stock mlir-opt and "", or an empty module and why the kernel is refused."""
    try:
        return tx.linalg.compile(kernel, random_kernels.SIGNATURE, lowered=True, via=via), ""
    except PipelineError as error:
        return "", str(error)


def run(function: Any, launch: Launch, accessed: dict[str, tuple[int, int]], at_end: bool) -> dict[str, torch.Tensor]:
    """Returns the elements of memory that are `accessed`, which is all that there is, after a launch of a function."""
    found = {name: tensor[slice(*(MARGIN + end for end in accessed[name]))] for name, tensor in launch.memory().items()}
    n, m, s = launch.scalars
    scalars = [ctypes.c_int32(n), ctypes.c_int32(m), ctypes.c_float(s)]
    memory = [(elements, accessed[name][0]) for name, elements in found.items()]
    exact_memory.run(function, memory, scalars, grid=launch.grid, at_end=at_end)
    return found


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """What kernels print goes nowhere."""
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)


def summary(outcomes: list[Ran]) -> str:
    """Returns what is printed in the end."""
    ran = [one for one in outcomes if not one.refused and not one.wrong]
    interpreted = [one for one in ran if not one.not_interpreted]
    equal = [one for one in interpreted if not one.differs]
    lines = [
        f"{len(outcomes)} kernels, each in both ways",
        f"{len(ran)} executed; both ways leave the same bits in memory",
        f"{sum(bool(one.refused) for one in outcomes)} refused at their line, in both ways",
        f"{sum(bool(one.wrong) for one in outcomes)} wrong: other bits, or refused in one way, or at no line",
        f"{len(equal)} of the {len(interpreted)} that the interpreter runs are as it says",
        f"{sum(one.undefined > 0 for one in equal)} of these have elements that lanes of atomics leave undefined",
    ]
    for title, texts in (
        ("refused", [one.refused for one in outcomes if one.refused]),
        ("not interpreted", [one.not_interpreted for one in ran if one.not_interpreted]),
    ):
        lines += [f"{count:5}  {title}: {why}" for why, count in Counter(texts).most_common()]
    lines += [f"seed {one.seed}, wrong: {one.wrong}" for one in outcomes if one.wrong]
    lines += [f"seed {one.seed}, not as in the interpreter: {one.differs}" for one in interpreted if one.differs]
    return "\n".join(lines)


def main() -> None:
    """Prints the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--end", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    start, outcomes = time.perf_counter(), []
    for outcome in random_kernels.in_processes(check, range(arguments.begin, arguments.end), arguments.jobs):
        outcomes.append(outcome)
        if outcome.wrong or outcome.differs or outcome.not_interpreted:
            print(outcome, file=sys.stderr)
    print(summary(outcomes))
    print(f"{time.perf_counter() - start:.0f} s")
    sys.exit(any(outcome.wrong for outcome in outcomes))


if __name__ == "__main__":
    main()
