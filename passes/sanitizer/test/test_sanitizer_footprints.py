# SPDX-License-Identifier: Apache-2.0
"""Whether programs access different bytes, and which ones, against the bytes of each program one by one, for random
integers.
"""

from __future__ import annotations

import random
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from triton_ext.sanitize import _bytes, _footprints, _programs
from triton_ext.sanitize._search import Reach
from triton_ext.sanitize._uses import Place, Use
from triton_ext.sanitize._values import Graph, Loop

from support.sanitizer.graphs import ARGUMENTS, SHAPE, random_graph, touched


def verdicts(seeds: range, programs: Any = _programs, footprints: Any = _footprints) -> Iterator[tuple[bool, int]]:
    """Yields, for each launch of which the programs are said to touch different bytes, whether it is so, and how many
    programs touch any."""
    for seed in seeds:
        graph, use, grid = random_graph(random.Random(seed))
        try:
            found = footprints.footprint(programs.Programs(graph, grid), use, start=8)
        except programs.Unknown:
            continue
        if not footprints.are_disjoint([found] if found else []):
            continue
        try:
            pairs = list(touched(graph, use, grid))
        except ZeroDivisionError:
            continue
        owners: dict[int, set[int]] = defaultdict(set)
        for program, byte in pairs:
            owners[byte].add(program)
        yield all(len(one) == 1 for one in owners.values()), len({program for program, _ in pairs})


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 4000, 1000))
def test_what_is_called_disjoint_is(start: int) -> None:
    found = [*verdicts(range(start, start + 1000))]
    assert all(is_right for is_right, _ in found)
    assert sum(programs > 1 for _, programs in found) >= 20  # else little was tested


def exact(seeds: range, programs: Any = _programs, footprints: Any = _footprints) -> Iterator[tuple[bool, int]]:
    """Yields, for each launch of which the bytes are said to be known exactly, whether they are, and how many there
    are.
    """
    for graph, use, grid in [gaps(), *(random_graph(random.Random(seed)) for seed in seeds)]:
        try:
            found = footprints.footprint(programs.Programs(graph, grid), use, start=8, exact=True)
            written = _bytes.NONE if found is None else _bytes.bytes_of(found)
        except programs.Unknown:
            continue
        try:
            right = {byte + 8 for _, byte in touched(graph, use, grid)}
        except ZeroDivisionError:
            continue
        found_bytes = {byte for one in zip(*written, strict=True) for byte in range(*one)}
        yield found_bytes == right, len(right)


def gaps() -> tuple[Graph, Use, tuple[int, int, int]]:
    """Returns a graph that stores to `iteration + 4 * lane`: with gaps in the first program, which has two iterations,
    and without gaps in the second one, which has four.
    """
    nodes: list[list[Any]] = [
        ["program", 0], ["constant", 0], ["constant", 1], ["constant", 2], ["lane", 0], ["iteration", 0],
        ["muli", 32, 0, 3], ["addi", 32, 6, 3], ["constant", 4], ["muli", 32, 4, 8], ["addi", 32, 9, 5],
        ["constant", 14], ["cmpi", 32, "slt", 10, 11], ["constant", 100], ["muli", 32, 0, 13], ["addi", 32, 10, 14],
    ]  # fmt: skip
    graph = Graph(nodes, {0: Loop(1, 7, 2, is_unsigned=False)}, {}, ARGUMENTS)
    return graph, Use("store", Place(), Reach(loops=(0,)), SHAPE, 12, 0, 15, 2), (2, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 4000, 1000))
def test_what_is_called_exact_is(start: int) -> None:
    found = [*exact(range(start, start + 1000))]
    assert all(is_right for is_right, _ in found)
    assert sum(size > 0 for _, size in found) >= 20  # else little was tested


#: Bugs: the module, and what is replaced by what.
MUTATIONS = {
    "tiles wrap around": ("_programs", "np.min(low) < -half or np.max(high) >= half", "False"),
    "scalars do not wrap": ("_programs", "(form.base + half) % (2 * half) - half", "form.base"),
    "a remainder is the dividend": ("_programs", "np.all(high < b.base)", "True"),
    "the least is the first": ("_programs", "np.all(high <= least if apply is np.minimum else low >= most)", "True"),
    "a loop runs once": ("_programs", "- 1) // step.base", "- 1) // step.base * 0"),
    "a branch is another one": ("_footprints", "programs.truth(condition) == wanted", "programs.truth(condition)"),
    "a mask lets one less through": ("_footprints", "np.minimum(one.high, -limit.base // step)",
                                     "np.minimum(one.high, -limit.base // step - 1)"),
    "less or equal is less": ("_footprints", 'predicate[1:] in ("lt", "gt")', "found"),
    "rows have no end": ("_footprints", "np.any(inner >= units[i]) or", ""),
    "tiles are aligned": ("_footprints", "or np.any((row - row[0]) % height + reaches[i] >= height)", ""),
    "neighbours are not compared": ("_footprints", "first[1:] > last[:-1]", "first[1:] >= first[:-1]"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_footprints_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, before, after = MUTATIONS[name]
    made = {}
    for one in (_programs, _footprints):
        text = Path(str(one.__file__)).read_text()
        short = one.__name__.rpartition(".")[2]
        assert short != module or text.count(before) == 1
        other = types.ModuleType(one.__name__)
        other.__package__ = one.__package__
        monkeypatch.setitem(sys.modules, one.__name__, other)
        exec(compile(text.replace(before, after) if short == module else text, short, "exec"), vars(other))
        made[short] = other
    wrong = (not is_right for is_right, _ in verdicts(range(6000), made["_programs"], made["_footprints"]))
    assert any(wrong)


#: Bugs of what is called exact.
INEXACT = {
    "a mask has no other part": ("use.mask, exact=exact)", "use.mask, exact=False)"),
    "a bound that is not applied is none": ("len(applied) + sum(alone) < len(limits)", "False"),
    "sums are dense if they are in one program": ("np.min if exact else np.max", "np.max"),
    "a bound may be less or equal": ("difference(found[0], Form(-1))", "difference(found[0], Form(0))"),
    "rows are dense if they are in one program": (
        "np.min(np.broadcast_to(reach, count.shape)[count > 0]) if exact", "np.max(reach) if exact",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", INEXACT)
def test_a_bug_of_what_is_exact_is_noticed(name: str) -> None:
    before, after = INEXACT[name]
    text = Path(str(_footprints.__file__)).read_text()
    assert text.count(before) == 1
    other = types.ModuleType(_footprints.__name__)
    other.__package__ = _footprints.__package__
    sys.modules["other_footprints"] = other
    exec(compile(text.replace(before, after), "_footprints", "exec"), vars(other))
    assert any(not is_right for is_right, _ in exact(range(6000), footprints=other))
