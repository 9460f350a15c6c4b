# SPDX-License-Identifier: Apache-2.0
"""The claims of each client of the analyses about the values of `integer_programs`, checked for every input."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support import PATH, ROOT, kept_build, mutants
from support.analysis import integer_builder, integer_programs
from support.analysis.integer_programs import Machine, Program, Record, Value
from support.integers import Flags, Numbers, compare, signed, unsigned

#: The command triton-ext-opt, which also runs where the package is on PYTHONPATH only.
OPT = (sys.executable, "-m", "triton_ext.driver")
CLIENTS = ("facts", "wraps", "never", "loops", "trackers")
#: The client that makes claims of each kind.
CLIENT_OF = {
    "F": "facts",
    "W": "wraps",
    "N": "never",
    **dict.fromkeys("MLSC", "loops"),
    **dict.fromkeys("OPK", "trackers"),
}
ANALYSES = ["AxisArithmetic", "AxisCasts", "AxisInfo", "AxisMath", "AxisShapes"]
ANALYSES += ["IndexMath", "IntegerFacts", "IntegerRules", "MaskTracker", "OffsetMath", "OffsetTracker"]
ANALYSES += ["PointerTracker"]
#: The files of a client that are compiled, too, if its directory exists.
PARTS: dict[str, tuple[Path, tuple[str, ...]]] = {
    "loop_split": (ROOT / "passes" / "loop_split", ("Known", "Recurrence", "AffineForm", "Condition"))
}


def build_pass(scratch: Path, mutations: Mapping[str, mutants.Mutation]) -> Path:
    """Builds the pass that prints claims, with all of `mutations` in it, in the empty directory `scratch`.

    Mutations name a file of ``infra/analysis`` as ``analysis/NAME``, one of LoopSplit as ``loop_split/NAME``.
    Everything is compiled as one file, which takes a third of the time, and optimized, because the pass then takes less
    than half of the time.
    """
    source = scratch / "print_claims"
    shutil.copytree(ROOT / "test" / "analysis" / "print_claims", source)
    shutil.copytree(ROOT / "infra" / "analysis", source / "analysis")
    files = ["LoopClaims.cpp", *(f"analysis/{name}.cpp" for name in ANALYSES)]
    for part, (directory, names) in PARTS.items():
        if not (directory / f"{names[0]}.cpp").exists():
            continue
        (source / part).mkdir()
        for name in names:
            files.append(f"{part}/{name}.cpp")
            shutil.copy(directory / f"{name}.h", source / part)
            shutil.copy(directory / f"{name}.cpp", source / part)
    mutants.apply(source, mutations)
    (source / "Analysis.cpp").write_text("".join(f'#include "{file}"\n' for file in files))
    kept_build.build_tree(source, source / "build", ("CMAKE_BUILD_TYPE=Release",))
    return source / "build" / "libtriton_ext_print_claims.so"


class Crash(Exception):  # noqa: N818
    """The compiler has refused the programs or crashed."""


@dataclass
class Claim:
    """A line of the pass: the kind of the claim, and the words that follow."""

    kind: str
    words: list[str]


def claims(
    texts: Sequence[str], library: Path, clients: Sequence[str] = CLIENTS, mutant: str = ""
) -> list[list[Claim]]:
    """Returns what the clients claim of each of the functions; lines are counted from the function's own first one."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(texts))
        file.flush()
        arguments = [file.name, f"-triton-ext-print-claims=clients={','.join(clients)}", "-o", os.devnull]
        server = _server(library)
        assert server.stdin
        assert server.stdout
        print(json.dumps([arguments, mutant]), file=server.stdin, flush=True)
        code, said = json.loads(server.stdout.readline())
    if code != 0:
        raise Crash(said[-3000:])
    starts = [1]
    for text in texts:
        starts.append(starts[-1] + text.count("\n") + 1)
    found: list[list[Claim]] = [[] for _ in texts]
    for line in said.splitlines():
        kind, number, *rest = line.split(" ")
        function = bisect_right(starts, int(number)) - 1
        first = starts[function]

        def own(text: str, first: int = first) -> str:
            return re.sub(r"v\((\d+)", lambda m: f"v({int(m[1]) - first}", text) if "(" in text else text

        words = [str(int(number) - first), *rest]
        # The positions at which the claim has the line of another value.
        for at in {"L": [2], "S": [1], "C": [1, 2, 4]}.get(kind, []):
            words[at] = str(int(words[at]) - first)
        if kind == "C":
            shift_terms(words, first)
        found[function].append(Claim(kind, [own(word) for word in words]))
    return found


@lru_cache(maxsize=1)
def _server(library: Path) -> subprocess.Popen[str]:
    """Starts a process that runs the driver with `library` on request. It ends when its input is closed, as at exit."""
    path = os.pathsep.join(filter(None, [PATH, os.environ.get("PYTHONPATH")]))  # which may have the package, too
    return subprocess.Popen(
        [sys.executable, "-m", "support.analysis.claims_server"],
        env={**os.environ, "PYTHONPATH": path, "TRITON_EXT_PATH": str(library)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def shift_terms(words: list[str], first: int) -> None:
    """Makes the lines of the terms, in both forms of a condition, relative to the function's first line."""
    at = 10
    for _ in range(2):
        for k in range(int(words[at + 2])):
            words[at + 3 + 3 * k] = str(int(words[at + 3 + 3 * k]) - first)
        at += 3 + 3 * int(words[at + 2])


@dataclass
class Run:
    """A program that has been run.

    Attributes:
        values: by line and slot.
    """

    program: Program
    machine: Machine
    values: dict[tuple[str, str], Value] = field(default_factory=dict)
    stacks: dict[tuple[Value, int], Numbers] = field(default_factory=dict)
    loops: dict[str, integer_programs.Op] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def walk(region: integer_programs.Region) -> Iterator[Value]:
            yield from region.arguments
            for op in region.ops:
                yield from op.results
                for inner in op.regions:
                    yield from walk(inner)

        for k, argument in enumerate(self.program.arguments[:-1]):
            argument.slot = f"a{k}"
            everyone = np.ones(self.machine.bad.size, np.bool_)
            record = Record(0, self.machine.values[argument], everyone, (everyone, everyone))
            self.machine.trace[argument] = [record]
        for value in [*self.program.arguments[:-1], *walk(self.program.body)]:
            self.values[str(value.line), value.slot] = value

    def find(self, words: Sequence[str]) -> Value:
        return self.values[words[0], words[1]]

    def records(self, value: Value) -> list[Record]:
        return self.machine.trace.get(value, [])

    def numbers(self, value: Value, which: int) -> Numbers:
        """Returns each number that the value ever is, for these inputs: all defined ones (0), those for which no
        operation of 32 bits or more wraps (1), or those for which no operation wraps (2)."""
        known = self.stacks.get((value, which))
        if known is None:
            picked = [r.numbers[where(r, which)] for r in self.records(value)]
            known = np.concatenate(picked) if picked else np.zeros((0, *value.shape), np.int64)
            known = known.astype(np.int64)
            if not value.shape and value.width <= 16:
                known = np.unique(known)
            self.stacks[value, which] = known
        return known


def where(record: Record, which: int) -> Flags:
    return record.defined if which == 0 else record.exact[which - 1]


#: The first seed whose programs have each shape; see `integer_builder.Builder`.
SHAPES = {"tiles": 10, "affine": 12, "narrow": 14}


def run(seed: int, count: int, index: bool = True) -> list[Run]:
    """Returns `count` random programs that have been run."""
    random, shapes = Random(seed), {shape for shape, first in SHAPES.items() if seed >= first}
    made = [integer_builder.program(random, f"f{n}", index, shapes) for n in range(count)]
    return [Run(program, program.run()) for program in made]


# Each check returns the error, or an empty string, and counts the claims that say something.


def check_facts(this: Run, words: list[str], said: Counter[str]) -> str:
    value = this.find(words)
    divisor, low, high, least, greatest = map(int, words[2:])
    numbers = this.numbers(value, 0)
    said["divisor"] += divisor > 1
    said["range"] += high - low < (1 << value.width) - 1 or greatest - least < (1 << value.width) - 1
    read = unsigned(numbers, value.width)
    if numbers.size == 0:
        return ""
    is_right = (
        (divisor == 1 or not (numbers % divisor).any())
        and (low <= numbers.min() and numbers.max() <= high)
        and (least <= read.min() and read.max() <= greatest)
    )
    return "" if is_right else seen(numbers)


def seen(numbers: NDArray[Any]) -> str:
    if numbers.size == 0:
        return "it is never computed"
    return f"it is {numbers.min()} to {numbers.max()}, of divisor {np.gcd.reduce(numbers, axis=None)}"


def check_axes(this: Run, words: list[str], said: Counter[str], which: int) -> str:
    value = this.find(words)
    numbers = this.numbers(value, which)
    if words[2] == "never":
        # The value is behind an endless loop or in a dead branch.
        return seen(numbers) if numbers.size else ""
    modulus = (1 << value.width) - 1
    elements = numbers if value.shape else numbers.reshape(-1, 1)
    for axis, text in enumerate(words[2].split(",")):
        divisor, stride, step = map(int, text.split(":"))
        said["divisor"] += divisor > 1
        said["stride"] += stride > 1
        lines = elements.swapaxes(axis + 1, -1)
        if divisor > 1 and (lines[..., ::stride] % divisor != 0).any():
            return f"a group of dimension {axis} starts with no multiple of {divisor}: {lines[0]}"
        if stride == 1:  # a group is one element
            continue
        apart = lines[..., 1:] - lines[..., :-1]
        inside = (np.arange(apart.shape[-1]) + 1) % stride != 0
        if ((apart[..., inside] - step) & modulus if value.width < 64 else apart[..., inside] - step).any():
            return f"a group of dimension {axis} does not grow by {step}"
    said["not negative"] += words[3] == "1"
    if words[3] == "1" and (numbers < 0).any():
        return seen(numbers)
    said["constant"] += words[4] != "-"
    if words[4] != "-" and (numbers != int(words[4])).any():
        return seen(numbers)
    return ""


def check_divisor(this: Run, words: list[str], said: Counter[str]) -> str:
    numbers = this.numbers(this.find(words), 0)
    said["multiple"] += 1
    return seen(numbers) if (numbers % (1 << int(words[2])) != 0).any() else ""


def latest(records: list[Record], tick: int) -> Record | None:
    at = bisect_right(records, tick, key=lambda record: record.tick)
    return records[at - 1] if at else None


def check_order(this: Run, words: list[str], said: Counter[str]) -> str:
    lhs, rhs = this.find(words), this.find(words[2:])
    first, second = (lhs, rhs) if words[4] == "1" else (rhs, lhs)
    said["order"] += 1
    earlier = this.records(first)
    for record in this.records(second):
        before = latest(earlier, record.tick)
        if before is None:
            continue
        flags = where(record, 2)
        a, b = before.numbers[flags], record.numbers[flags]
        if words[4] != "1":
            a, b = b, a
        if (a.astype(np.int64) > b).any():
            at = int(np.argmax(a.astype(np.int64) > b))
            return f"{a[at]} is more than {b[at]}"
    return ""


def lines_of(
    this: Run, line: str, value: Value, slope: int, read: Callable[[Numbers, int], NDArray[Any]] | None
) -> str:
    """Returns what is wrong, unless `value` minus `slope` times the induction variable of the loop at `line` is the
    same in all iterations: modulo 2^width, or as numbers that are read like that. The induction variable is read as the
    loop compares it."""
    iv = this.values[line, "a0"]
    read_iv = unsigned if "scf.for unsigned" in this.program.lines[int(line)] else signed
    base: NDArray[Any] = np.zeros((this.machine.bad.size, *value.shape), object if read else np.int64)
    has = np.zeros(this.machine.bad.size, np.bool_)
    records, rounds = this.records(value), this.records(iv)
    by = int(signed(np.array([slope], dtype=object), 64)[0])
    starts, previous = this.machine.starts.get(iv, []), -1
    for k, now in enumerate(rounds):
        if bisect_right(starts, previous) != bisect_right(starts, now.tick):
            has = np.zeros_like(has)
        previous = now.tick
        end = rounds[k + 1].tick if k + 1 < len(rounds) else 1 << 62
        running = read_iv(now.numbers.astype(np.int64), iv.width).reshape(-1, *[1] * len(value.shape))
        for record in records[bisect_left(records, now.tick, key=lambda r: r.tick) :]:
            if record.tick >= end:
                break
            numbers = record.numbers.astype(np.int64)
            if read:
                rest: NDArray[Any] = read(numbers, value.width).astype(object)
                rest = rest - slope * running.astype(object)
            else:
                rest = signed(numbers - np.int64(by) * running.astype(np.int64), value.width)
            known, new = record.defined & has, record.defined & ~has
            if (rest[known] != base[known]).any():
                return f"it is not {slope} times the induction variable plus something that stays"
            base[new] = rest[new]
            has = has | new
    return ""


def check_sequence(this: Run, words: list[str], said: Counter[str]) -> str:
    line, value = words[0], this.find(words[1:])
    affine, slope = words[3] == "1", int(words[4])
    said["affine"] += affine and slope != 0
    if affine and (wrong := lines_of(this, line, value, slope, None)):
        return wrong
    readers: list[Callable[[Numbers, int], NDArray[Any]]] = [signed, unsigned]
    for k, read in enumerate(readers):
        exact, low, high = (int(word) for word in words[5 + 3 * k : 8 + 3 * k])
        if not exact:
            continue
        said["exact"] += slope != 0
        numbers = read(this.numbers(value, 0), value.width)
        if ((numbers < low) | (numbers > high)).any():
            return seen(numbers)
        if affine and slope != 0 and (wrong := lines_of(this, line, value, slope, read)):
            return f"as numbers ({read.__name__}) {wrong}"
    return ""


def check_condition(this: Run, words: list[str], said: Counter[str]) -> str:
    """Checks the affine forms of both sides, and the recurrence of the left one."""
    loop, line = words[0], words[1]
    sides = [this.find(words[2:]), this.find(words[4:])]
    swapped, slope, unsigned_order, exact = words[6] == "1", int(words[7]), words[8] == "1", words[9] == "1"
    if swapped:
        sides.reverse()
    at = 10
    said["condition"] += 1
    for value in sides:
        constant, spread, count = map(int, words[at : at + 3])
        terms = []
        for k in range(count):
            place, slot, factor = words[at + 3 + 3 * k : at + 6 + 3 * k]
            terms.append((this.values[place, slot], int(factor)))
        at += 3 + 3 * count
        for record in this.records(this.values[line, "r0"]):
            found = latest(this.records(value), record.tick)
            total = np.full(record.defined.size, constant, object)
            for term, factor in terms:
                numbers = latest(this.records(term), record.tick)
                assert numbers is not None
                total = total + factor * numbers.numbers.astype(object)
            assert found is not None
            flags = record.defined
            apart = found.numbers[flags].astype(object) - total[flags].reshape(-1, *[1] * len(value.shape))
            if (unsigned(apart, value.width) > spread).any():
                return "an element is not the sum of its form"
    if not exact:
        return lines_of(this, loop, sides[0], slope, None)
    said["exact condition"] += 1
    return lines_of(this, loop, sides[0], slope, unsigned if unsigned_order else signed)


def cmpi(predicate: str, a: Numbers, b: Numbers) -> Numbers:
    return compare(predicate, np.asarray(a), np.asarray(b), 64).astype(np.int64)


def wrapped(value: Any) -> Any:
    """Returns `value` wrapped to 64 bits, as in index arithmetic; NumPy's arrays already are."""
    return (value + 2**63) % 2**64 - 2**63 if isinstance(value, int) else value


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "addi": lambda a, b: wrapped(a + b),
    "subi": lambda a, b: wrapped(a - b),
    "muli": lambda a, b: wrapped(a * b),
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "cmpi": cmpi,
    "select": lambda c, a, b: np.where(np.asarray(c) != 0, a, b),
}


@lru_cache(1 << 10)
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<claim>", "eval")


def evaluate(this: Run, expression: str, record: Record) -> Any:
    """Evaluates an expression of the pass behind the operation that made `record`. Returns a number for each input, or
    a list of such results."""

    def v(line: int, slot: str) -> Numbers:
        found = latest(this.records(this.values[str(line), slot]), record.tick)
        assert found is not None
        return found.numbers.astype(np.int64)

    with np.errstate(over="ignore"):
        return eval(_compiled(expression), {"__builtins__": {}}, {**EXPRESSIONS, "v": v})


def grid(this: Run, offset: Any, strides: list[Any], record: Record, shape: tuple[int, ...]) -> Numbers:
    """Returns the elements that `offset` and `strides` describe."""
    count = record.defined.size
    total = np.broadcast_to(np.asarray(offset, np.int64).reshape(-1, *[1] * len(shape)), (count, *shape)).copy()
    for axis, stride in enumerate(strides):
        by = np.broadcast_to(np.asarray(stride, np.int64).reshape(-1), (count,))
        along = [1] * (len(shape) + 1)
        along[axis + 1] = shape[axis]
        total += by.reshape(-1, *[1] * len(shape)) * np.arange(shape[axis]).reshape(along)
    return total


def unlike(record: Record, expected: Numbers) -> str:
    """Returns what the elements of `record` are if they are not the expected ones."""
    flags = where(record, 1)
    return f"it is {record.numbers[flags][0]}" if (record.numbers[flags] != expected[flags]).any() else ""


def check_offsets(this: Run, words: list[str], said: Counter[str]) -> str:
    value = this.find(words)
    said["offsets"] += 1
    for record in this.records(value):
        offset, strides = (evaluate(this, word, record) for word in words[2:4])
        expected = grid(this, offset, strides, record, value.shape)
        if error := unlike(record, expected):
            return error
    return ""


def check_pointers(this: Run, words: list[str], said: Counter[str]) -> str:
    value = this.find(words)
    said["pointers"] += 1
    for record in this.records(value):
        base, offset, strides = (evaluate(this, word, record) for word in words[2:5])
        expected = np.asarray(base).reshape(-1, *[1] * len(value.shape)) + value.step * grid(
            this, offset, strides, record, value.shape
        )
        if error := unlike(record, expected):
            return error
    return ""


def check_mask(this: Run, words: list[str], said: Counter[str]) -> str:
    value = this.find(words)
    said["mask"] += 1
    for record in this.records(value):
        low, high = (evaluate(this, word, record) for word in words[2:4])
        flags = where(record, 1)
        inside = np.ones((record.defined.size, *value.shape), np.bool_)
        for axis, (first, end) in enumerate(zip(low, high, strict=True)):
            along = [1] * (len(value.shape) + 1)
            along[axis + 1] = value.shape[axis]
            places = np.arange(value.shape[axis]).reshape(along)
            bounds = [np.asarray(bound).reshape(-1, *[1] * len(value.shape)) for bound in (first, end)]
            inside &= (places >= bounds[0]) & (places < bounds[1])
            for bound in bounds:
                each = np.broadcast_to(bound.reshape(-1), flags.shape)[flags]
                if ((each < 0) | (each > value.shape[axis])).any():
                    return f"a bound is {each.min()} to {each.max()}, of {value.shape[axis]} elements"
        if ((record.numbers[flags] != 0) != inside[flags]).any():
            return f"it is {record.numbers[flags][0]}"
    return ""


CHECKS: dict[str, Callable[[Run, list[str], Counter[str]], str]] = {
    "F": check_facts,
    "W": lambda this, words, said: check_axes(this, words, said, 0),
    "N": lambda this, words, said: check_axes(this, words, said, 1),
    "M": check_divisor,
    "L": check_order,
    "S": check_sequence,
    "C": check_condition,
    "O": check_offsets,
    "P": check_pointers,
    "K": check_mask,
}


def refuted(runs: Sequence[Run], found: Sequence[Sequence[Claim]], said: Counter[str]) -> Iterator[str]:
    """Yields each claim that an input refutes, with the program. Counts, by kind, the claims that say something."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for this, own in zip(runs, found, strict=True):
        proven = set()
        for claim in own:
            if claim.kind in ("N", "W"):
                words = tuple(claim.words)
                if claim.kind == "N" and words in proven:
                    said["N as W"] += 1  # it holds for more inputs
                    continue
                if claim.kind == "W":
                    proven.add(words)
            wrong = CHECKS[claim.kind](this, claim.words, counts[claim.kind])
            if wrong:
                name = f"{CLIENT_OF[claim.kind]}: {claim.kind} {' '.join(claim.words)}"
                yield f"{name}, but {wrong}\n" + "\n".join(f"{k}: {line}" for k, line in enumerate(this.program.lines))
        this.stacks.clear()  # of all programs, they are gigabytes
    for kind, number_of in counts.items():
        said.update({f"{kind} {name}": number for name, number in number_of.items()})
