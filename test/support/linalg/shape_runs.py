# SPDX-License-Identifier: Apache-2.0
"""Runs random shapes of pointers in both ways to linalg, and compares all bits of memory with Triton's interpreter.

The shapes are the cases of `pointer_shapes`. Each runs through stock mlir-opt four times: in both ways, and with memory
that begins and memory that ends where the interpreter's accesses do, beside a page without access rights.

``python test/support/linalg/shape_runs.py --begin 0 --end 2000`` prints how many cases of each kind run, and what is
wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from triton.runtime import interpreter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import triton_ext as tx
from support import pointer_shapes
from support.interpreter import run_in_interpreter
from support.linalg import exact_memory, execute, random_kernels
from support.linalg.random_runs import WAYS
from support.linalg.watched import Watched
from support.pointer_shapes import Case
from triton_ext.errors import PipelineError

#: The pointers of the kernel; the numbers are the arguments behind them.
POINTERS = tuple(pointer_shapes.shapes.arg_names[:4])
NUMBERS = tuple(pointer_shapes.shapes.arg_names[4:13])
Via = Literal["structured"] | None


def _wraps(case: Case) -> tuple[bool, bool]:
    """Returns whether the rows and whether the columns of the tile wrap around; gathered rows do not."""
    wrap = case.constants["WRAP"]
    return wrap % 2 == 1 and case.constants["GATHER"] != 1, wrap // 2 == 1


#: What a case has, by the name of its kind. A case is of several kinds.
KINDS: dict[str, Callable[[Case], bool]] = {
    "a stride that is known only at run time": lambda _: True,
    "a stride of 0": lambda case: 0 in {case.constants["S"], case.numbers[0]},
    "a negative stride": lambda case: min(case.constants["S"], case.numbers[0]) < 0,
    "a modulo in one dimension": lambda case: sum(_wraps(case)) == 1,
    "a modulo in two dimensions": lambda case: all(_wraps(case)),
    "rows or columns at loaded indices": lambda case: case.constants["GATHER"] > 0,
    "two bounds in one dimension of the mask": lambda case: case.constants["LOW"] ^ (case.constants["LOOP"] == 1),
    "two bounds in both dimensions of the mask": lambda case: case.constants["LOW"] & (case.constants["LOOP"] == 1),
    "a mask that is more than bounds": lambda case: case.constants["SIEVE"] > 0,
    "a pointer from an if": lambda case: case.constants["CHOICE"] == 1 or case.constants["LOOP"] in {4, 5, 6, 7, 8},
    "a pointer from a where": lambda case: case.constants["CHOICE"] == 2,
    "pointers through for": lambda case: case.constants["LOOP"] in {1, 3, 5, 6, 8},
    "pointers through while": lambda case: case.constants["LOOP"] in {2, 4, 7},
    "pointers through a loop in a loop": lambda case: case.constants["LOOP"] == 5,
    "pointers that a loop swaps": lambda case: case.constants["LOOP"] in {3, 4, 7},
}


@dataclass(frozen=True)
class Expected:
    """What a case does in the interpreter.

    Attributes:
        accessed: for each pointer, the first element that is accessed and the one behind the last, counted from it.
        found: what the kernel wrote, as `pointer_shapes.run` returns it.
    """

    accessed: dict[str, tuple[int, int]]
    found: tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Ran:
    """What became of the case of `seed`: why both ways refuse it, with its line, or what is wrong; or "" for both."""

    seed: int
    refused: str = ""
    wrong: str = ""


def check(seeds: range) -> list[Ran]:
    """Runs the cases of `seeds` in this process, and in another one with the interpreter."""
    torch.set_num_threads(1)  # a process that was forked has no threads of OpenMP, but waits for them
    expected = interpreted(seeds)
    return [compare(pointer_shapes.draw(seed), expected[seed]) for seed in seeds]


def interpreted(seeds: range) -> dict[int, Expected]:
    """Returns for each seed what its case does in the interpreter."""
    with tempfile.TemporaryDirectory() as directory:
        found = Path(directory, "expected.pt")
        run_in_interpreter(__file__, *map(Path, ("--interpret", str(seeds.start), str(seeds.stop), str(found))))
        return {seed: Expected(*done) for seed, done in torch.load(found).items()}


def _interpret(seed: int) -> tuple[dict[str, tuple[int, int]], tuple[torch.Tensor, torch.Tensor]]:
    """Returns the attributes of `Expected`."""
    functions, seen = interpreter._interpreter, dict[str, tuple[int, int]]()

    def launch(*arguments: torch.Tensor, **constants: object) -> None:
        watched = Watched(functions, dict(zip(POINTERS, arguments, strict=False)), 0)
        interpreter._interpreter = watched
        try:
            pointer_shapes.shapes[(1,)](*arguments, **constants)
        finally:
            interpreter._interpreter = functions
        seen.update({name: watched.accessed.get(name, (0, 0)) for name in POINTERS})

    found = pointer_shapes.run(pointer_shapes.draw(seed), launch)
    return seen, found


def compare(case: Case, expected: Expected) -> Ran:
    """Runs a case in both ways and compares what it does."""
    texts, refused = zip(*(lowered(case, via) for via in WAYS), strict=True)
    if any(refused):
        located = random_kernels.located(refused[0])
        if refused[0] != refused[1] or not located:
            return Ran(case.seed, wrong=f"the ways refuse it with {refused}")
        return Ran(case.seed, refused=located)
    for via, text in zip(WAYS, texts, strict=True):
        function = execute.build(execute.to_llvm(text), "shapes").shapes
        for at_end in (False, True):
            found = run(function, case, expected.accessed, at_end)
            for name, one, other in zip(("out", "old"), found, expected.found, strict=True):
                if bad := int((one != other).sum()):
                    where = f"by way of {via or 'linalg'}, in memory that {'ends' if at_end else 'begins'} there"
                    return Ran(case.seed, wrong=f"{bad} elements of {name} differ {where}")
    return Ran(case.seed)


def lowered(case: Case, via: Via) -> tuple[str, str]:
    """Returns the module for stock mlir-opt and "", or an empty module and why the case is refused."""
    signature = dict.fromkeys(POINTERS, "*i32") | dict.fromkeys(NUMBERS, "i32") | case.constants
    try:
        return tx.linalg.compile(pointer_shapes.shapes, signature, lowered=True, via=via), ""
    except PipelineError as error:
        return "", str(error)


def run(
    function: Callable[..., object], case: Case, accessed: dict[str, tuple[int, int]], at_end: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns what a compiled case writes, where no memory exists but the elements that are `accessed`."""

    def launch(*arguments: torch.Tensor, **_: object) -> None:
        tensors = zip(POINTERS, arguments, strict=False)
        memory = [(tensor[slice(*accessed[name])], accessed[name][0]) for name, tensor in tensors]
        numbers = [ctypes.c_int32(int(number)) for number in arguments[len(POINTERS) :]]
        exact_memory.run(function, memory, numbers, grid=1, at_end=at_end)

    return pointer_shapes.run(case, launch)


def summary(outcomes: list[Ran]) -> str:
    """Returns a table of the kinds, and below it what is refused or wrong."""
    wide = max(map(len, KINDS))
    lines = [f"{'a case with':{wide}}  cases  equal  refused  wrong"]
    for name, has in KINDS.items():
        of_kind = [one for one in outcomes if has(pointer_shapes.draw(one.seed))]
        refused, wrong = sum(bool(one.refused) for one in of_kind), sum(bool(one.wrong) for one in of_kind)
        lines.append(f"{name:{wide}}  {len(of_kind):5}  {len(of_kind) - refused - wrong:5}  {refused:7}  {wrong:5}")
    for title in ("refused", "wrong"):
        lines += [f"seed {one.seed}, {title}: {why}" for one in outcomes if (why := getattr(one, title))]
    return "\n".join(lines)


def main() -> None:
    """Prints the summary, or writes what the interpreter makes of cases to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--end", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--interpret", nargs=3, metavar=("BEGIN", "END", "FILE"))
    arguments = parser.parse_args()
    if arguments.interpret:
        begin, end, file = arguments.interpret
        torch.save({seed: _interpret(seed) for seed in range(int(begin), int(end))}, file)
        return
    start, outcomes, seeds = time.perf_counter(), list[Ran](), range(arguments.begin, arguments.end)
    for outcome in random_kernels.in_processes(check, seeds, arguments.jobs, show=pointer_shapes.draw):
        outcomes.append(outcome)
        if outcome.wrong or outcome.seed % 100 == 99:
            print(outcome, file=sys.stderr)
    print(summary(outcomes))
    print(f"{time.perf_counter() - start:.0f} s")
    sys.exit(any(outcome.wrong for outcome in outcomes))


if __name__ == "__main__":
    main()
