# SPDX-License-Identifier: Apache-2.0
"""Linear layouts as tables: random ones, and what operations mean, index by index. Shares no code with Triton."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

Index = tuple[int, ...]
Table = dict[Index, Index]
Bases = dict[str, list[list[int]]]


def table(bases: Mapping[str, Sequence[Sequence[int]]], rank: int) -> Table:
    """Returns the image of every index: the exclusive or of the bases whose bits it has."""
    found: Table = {}
    for index in itertools.product(*(range(1 << len(columns)) for columns in bases.values())):
        image = [0] * rank
        for number, columns in zip(index, bases.values(), strict=True):
            for bit, basis in enumerate(columns):
                if number >> bit & 1:
                    image = [a ^ b for a, b in zip(image, basis, strict=True)]
        found[index] = tuple(image)
    return found


@st.composite
def layouts(draw: st.DrawFn, ins: Sequence[str], outs: Sequence[str], most: int = 7) -> tuple[Bases, dict[str, int]]:
    """Draws any bases from `ins` to `outs`, with at most `most` bits on each side, and the sizes of `outs`."""
    sizes = {name: 1 << draw(st.integers(0, most // len(outs))) for name in outs}
    element = st.tuples(*(st.integers(0, size - 1) for size in sizes.values())).map(list)
    return {name: draw(st.lists(element, max_size=most // len(ins))) for name in ins}, sizes


@st.composite
def bijections(draw: st.DrawFn, ins: Sequence[str], outs: Sequence[str], bits: int = 7) -> tuple[Bases, dict[str, int]]:
    """Draws the bases of a bijection with `bits` bits or fewer, and the sizes of `outs`."""
    count = draw(st.integers(0, bits))
    columns = [1 << i for i in range(count)]
    for _ in range(draw(st.integers(0, 3 * count))):  # additions of columns keep the rank
        a, b = draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))
        if a != b:
            columns[a] ^= columns[b]
    columns = draw(st.permutations(columns))
    ends = sorted(draw(st.lists(st.integers(0, count), min_size=len(outs) - 1, max_size=len(outs) - 1)))
    widths = [b - a for a, b in itertools.pairwise([0, *ends, count])]
    sizes = {name: 1 << width for name, width in zip(outs, widths, strict=True)}
    images = []
    for column in columns:
        image = []
        for width in widths:
            image.append(column & ((1 << width) - 1))
            column >>= width  # noqa: PLW2901
        images.append(image)
    cuts = sorted(draw(st.lists(st.integers(0, count), min_size=len(ins) - 1, max_size=len(ins) - 1)))
    parts = itertools.pairwise([0, *cuts, count])
    return {name: images[a:b] for name, (a, b) in zip(ins, parts, strict=True)}, sizes


def product(a: Table, b: Table, ins: Sequence[int], outs: Sequence[int]) -> Table:
    """Returns the direct sum of two layouts with the same dimensions; `ins` and `outs` are the sizes of `a`."""
    return {
        tuple(i + j * size for i, j, size in zip(x, y, ins, strict=True)): tuple(
            i + j * size for i, j, size in zip(a[x], b[y], outs, strict=True)
        )
        for x in a
        for y in b
    }
