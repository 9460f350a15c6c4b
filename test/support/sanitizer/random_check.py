# SPDX-License-Identifier: Apache-2.0
"""Compares what `tx.sanitize` finds in launches of random kernels with what the oracle finds, lane by lane.

A session keeps the first wrong lane of an access in each program, and counts all: all counts have to be the oracle's,
and every lane that is kept.

``PYTHONPATH=test python -m support.sanitizer.random_check COUNT [SEED]`` compares `COUNT` launches on the CPU backend,
prints the wrong ones, and keeps their kernels.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from triton_ext.probe._layout import MOST_FAILURES
from triton_ext.sanitize._tensors import nearest

import triton_ext as tx

from . import random_kernels
from .cases import Tensors
from .random_launches import Launch, launches_of
from .truth import truth

#: Launches of each kernel.
EACH = 20
#: Kernels in a module.
KERNELS = 25
#: The parameters of kernels that are pointers.
ARGUMENTS = ("x", "y", "index", "out")

#: A check, a line, an argument, a program, a lane, and the byte in the argument.
Bad = tuple[str, int, str, tuple[int, int, int], int, int]


def expected(rows: list[dict[str, Any]], tensors: dict[str, torch.Tensor]) -> tuple[Counter[Bad], Counter[Bad]]:
    """Returns what the oracle has found: what the kernel has to find, and what is between the elements of a view."""
    found: Counter[Bad] = Counter()
    between: Counter[Bad] = Counter()
    for row in rows:
        tensor = tensors[row["argument"]]
        for *program, lane, offset in row["lanes"]:
            is_between = row["check"] == "view" and 0 <= offset < _extent(tensor)
            (between if is_between else found)[
                row["check"], row["line"], row["argument"], tuple(program), lane, offset
            ] += 1
    return found, between


def _extent(tensor: torch.Tensor) -> int:
    if not tensor.numel():
        return 0
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return (sum((length - 1) * stride for length, stride in steps) + 1) * tensor.element_size()


def recorded(report: Any, tensors: dict[str, torch.Tensor]) -> Counter[Bad]:
    """Returns every lane that a report's session has recorded."""
    session = report._session
    found: Counter[Bad] = Counter()
    for records in session._see().records:
        note = json.loads(records.site.note)
        names = note["values"]
        lanes = records.values[2 + names.index("lane")] if "lane" in names else records.lanes
        for row, lane in enumerate(lanes):
            launch = session._launches[int(records.values[0][row])]
            address = int(records.values[1][row])
            number = note["argument"]
            if number is None:
                number = nearest(launch.arguments, address, note["bytes"])
            name = launch.arguments[number].name
            program = tuple(int(axis[row]) for axis in records.programs)
            start = launch.arguments[number].address
            found[note["check"], records.site.line, name, program, int(lane), address - start] += 1
    return found


def compare(launch: Launch, rows: list[dict[str, Any]], **options: bool) -> str:
    """Runs a launch, with more options of `tx.sanitize`. Returns how the findings differ from the oracle's; empty if
    they do not.
    """
    given = launch.given(Tensors())
    tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
    # An empty tensor's address is 0, where an access would end the process.
    can_report = all(tensor.numel() for tensor in tensors.values())
    action = "report" if can_report and launch.number % 2 else "suppress"
    with tx.sanitize(checks="bounds", action=action, **options) as report:
        launch.kernel[launch.grid](**given)
    found, (wanted, between) = recorded(report, tensors), expected(rows, tensors)
    if wrong := _wrong_between(report.findings, wanted, between):
        return wrong
    if repeated := _leave_out_repeated(report, Path(launch.kernel.fn.__code__.co_filename), wanted):
        return repeated
    if too_many := found - wanted:
        return f"{too_many.total()} lanes are right: {min(too_many)} and others"
    lanes, wanted_lanes = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for one in (
        one for one in report.findings if not _is_between(one)
    ):  # of a selected pointer, each tensor's finding has the lanes of all of them
        lanes[one.check, one.line] = max(lanes[one.check, one.line], one.lanes)
    for (check, line, *_), count in wanted.items():
        wanted_lanes[check, line] += count
    if lanes != wanted_lanes:
        return f"lanes by check and line: {dict(lanes)}, not {dict(wanted_lanes)}"
    return _first_lanes(found, wanted)


def _is_between(finding: Any) -> bool:
    """Whether a finding is about an access between the elements of a view, which the host has decided."""
    return finding.check == "view" and finding.distance is None


def _wrong_between(findings: list[Any], wanted: Counter[Bad], between: Counter[Bad]) -> str:
    """Compares the findings between the elements of views. The host finds those that do not depend on memory, in lines
    with no other finding: others may be missing."""
    for one in filter(_is_between, findings):
        bad = Counter[Bad]({key: n for key, n in between.items() if key[1:3] == (one.line, one.argument)})
        if one.lanes not in (0, bad.total()):  # 0: not counted
            return f"line {one.line}: {one.lanes} lanes between the elements of {one.argument}, not {bad.total()}"
        if (one.program, one.lane) not in {(program, lane) for _, _, _, program, lane, _ in bad}:
            return f"line {one.line}: program {one.program}, lane {one.lane} is right"
        if any(line == one.line for _, line, *_ in wanted):
            return f"line {one.line} is told twice"
    return ""


def _leave_out_repeated(report: Any, file: Path, wanted: Counter[Bad]) -> str:
    """Takes out of `wanted` the lanes of accesses that repeat another one, which has the finding: at the same
    addresses, or in a line of the same text, which the compiler has merged with the first one.

    Returns what is wrong with that, which is nothing if the other access has the same wrong lanes; else an empty text.
    """
    words = "the same addresses as in line "
    checked = {one.line for one in report.accesses}
    text = file.read_text().splitlines()
    arguments = {bad[2] for bad in wanted}
    # Of a line with two accesses, such as y[index[i]], the one of an argument that is named in the text.
    repeated: dict[tuple[int, str], int] = {}
    for one in report.accesses:
        if one.why.startswith(words):
            named = re.match(r"tl\.\w+\((\w+)", text[one.line - 1][one.column - 1 :])
            argument = named[1] if named and named[1] in ARGUMENTS else ""
            repeated[one.line, argument] = int(one.why.removeprefix(words))
    for line in {bad[1] for bad in wanted} - checked:
        if alike := [first for first in checked if first < line and text[first - 1] == text[line - 1]]:
            repeated.update(dict.fromkeys(((line, argument) for argument in arguments), min(alike)))
    for check, line, argument, *where in list(wanted):
        if (first := repeated.get((line, argument), repeated.get((line, "")))) is None:
            continue
        if (check, first, argument, *where) not in wanted:
            return f"line {line} has a wrong lane of {argument} that line {first} has not: {where}"
        del wanted[check, line, argument, *where]
    return ""


def _first_lanes(found: Counter[Bad], wanted: Counter[Bad]) -> str:
    """Compares the first wrong lane of each line in each program; a session keeps `MOST_FAILURES` of a line."""
    recorded_, first = defaultdict(list), dict[Any, int]()
    for check, line, _, program, lane, _ in found.elements():
        recorded_[check, line].append((program, lane))
    for check, line, _, program, lane, _ in wanted:
        key = (check, line, program)
        first[key] = min(first.get(key, lane), lane)
    for (check, line, program), lane in first.items():
        kept = recorded_[check, line]
        if (program, lane) not in kept and len(kept) < MOST_FAILURES:
            return f"{check} in line {line}, program {program}: not the first lane {lane}, but {kept}"
    return ""


def check_all(count: int, seed: int, directory: Path, **options: bool) -> Iterator[tuple[Path, Launch, str]]:
    """Yields for `count` launches the file, the launch, and what is wrong with the findings, which `options` of
    `tx.sanitize` give.
    """
    for number in range(-(-count // (KERNELS * EACH))):
        file = directory / f"random_{seed}_{number}.py"
        file.write_text(random_kernels.module(1000 * seed + number, min(KERNELS, -(-count // EACH))))
        rows = truth(file, number, EACH)
        for launch, of_launch in zip(launches_of(file, number, EACH), rows, strict=True):
            try:
                yield file, launch, compare(launch, of_launch, **options)
            except Exception as error:  # what is wrong is said
                yield file, launch, f"{type(error).__name__}: {error}"


def main(count: int, seed: int = 0) -> int:
    """Prints the wrong launches; returns the exit status."""
    wrong = done = 0
    kept = Path(tempfile.mkdtemp(prefix="random-kernels-"))
    with contextlib.ExitStack() as stack:
        os.environ["TRITON_CACHE_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        for file, launch, difference in check_all(count, seed, kept):
            done += 1
            if difference:
                wrong += 1
                print(f"{file}: {launch.kernel.__name__}, launch {launch.number}: {difference}", flush=True)
            if done % 500 == 0:
                print(f"{done} launches, {wrong} wrong", flush=True)
    print(f"{done} launches, {wrong} with other findings than the oracle's")
    if not wrong:
        shutil.rmtree(kept)
    return bool(wrong)


if __name__ == "__main__":
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "cpu")
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    sys.exit(main(*map(int, sys.argv[1:])))
