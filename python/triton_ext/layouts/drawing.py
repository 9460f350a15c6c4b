# SPDX-License-Identifier: Apache-2.0
"""A grid of cells with labels and colours, which the terminal, SVG files and the trace page draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .holders import holders, padded, strides_of, unpacked
from .layout import Layout

#: The number of colours; a colour is used again after these.
COLOURS = 16
EMPTY = -1  # the colour of an element that nobody holds
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class Cell:
    """A run of elements in one row with one holder.

    Attributes:
        row: its row.
        column: its first column.
        width: its columns.
        label: a few characters.
        colour: a number below `COLOURS`, or `EMPTY`.
        strong: whether it has the stronger tone of the colour, so that neighbours can be told apart.
        title: all that is to be said about it.
    """

    row: int
    column: int
    width: int
    label: str
    colour: int
    strong: bool
    title: str


@dataclass(frozen=True)
class Drawing:
    """A grid of cells.

    Attributes:
        title: what is drawn.
        note: what the labels and colours mean, and what is not shown.
        rows: the name of each row.
        columns: the number of columns.
        cells: the cells, by rows.
        legend: names of colours.
    """

    title: str
    note: str
    rows: tuple[str, ...]
    columns: int
    cells: tuple[Cell, ...]
    legend: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class _Look:
    """How one index is drawn: the label that a run of indices shares, the number that counts in it, and the colour."""

    owner: str
    counter: int
    colour: int
    strong: bool
    title: str


def draw(layout: Layout, *, bits: int, window: tuple[int, int], title: str) -> Drawing:
    """Returns the drawing of a layout: who holds each element, for the first rows and columns of `window`.

    Args:
        layout: the layout; leading dimensions of more than two are drawn as rows.
        bits: the bits of an element, for the banks of a shared layout.
        window: the most rows and columns.
        title: the title.
    """
    shape = layout.shape or (1,)
    height, width = math.prod(shape[:-1]), shape[-1]
    shown = min(height, window[0]), min(width, window[1])
    found = holders(layout)
    look, explanation, name = _looks(layout, bits)
    cells: list[Cell] = []
    seen: dict[int, None] = {}
    copies = 1
    for row in range(shown[0]):
        elements = [[look(number) for number in found[row * width + column]] for column in range(shown[1])]
        copies = max(copies, *map(len, elements))
        places = [_place(row, column, shape) for column in range(shown[1])]
        for cell in _runs(row, elements, places):
            seen.setdefault(cell.colour)
            cells.append(cell)
    note = explanation
    if copies > 1:
        note += f" An element has up to {copies} holders; the first one is shown."
    if shown != (height, width):
        note += f" The first {shown[0]} x {shown[1]} of {height} x {width} elements are shown."
    rows = tuple(_row_name(row, shape) for row in range(shown[0]))
    legend = tuple((colour, name(colour)) for colour in sorted(seen) if colour != EMPTY)
    return Drawing(title, note, rows, shown[1], tuple(cells), legend if len(legend) <= COLOURS else ())


def _runs(row: int, elements: Sequence[Sequence[_Look]], places: Sequence[str]) -> Iterator[Cell]:
    """Yields the cells of a row: neighbours with the same owner, whose counters follow each other, are one cell."""
    start = 0
    for column in range(1, len(elements) + 1):
        before = elements[column - 1]
        here = elements[column] if column < len(elements) else None
        if here is not None and before and here:
            follows = here[0].owner == before[0].owner and here[0].counter == before[0].counter + 1
            if follows and len(here) == len(before):
                continue
        if before:
            first, last = elements[start][0], before[0]
            counter = str(first.counter) if column - start == 1 else f"{first.counter}-{last.counter}"
            label = f"{first.owner}:{counter}" if first.owner else counter
            titles = [f"{place}: {'; '.join(look.title for look in looks)}" for place, looks in
                      zip(places[start:column], elements[start:column], strict=True)]  # fmt: skip
            yield Cell(row, start, column - start, label, first.colour, first.strong, "\n".join(titles))
        else:
            yield Cell(row, start, column - start, "", EMPTY, False, f"{places[start]}: nobody holds it")
        start = column


def _looks(layout: Layout, bits: int) -> tuple[Callable[[int], _Look], str, Callable[[int], str]]:
    """Returns the function that decides how an index is drawn, the legend, and the name of a colour."""
    ins = layout.ins
    if layout.kind == "shared":
        return _shared(layout, bits)
    if "lane" in ins and "register" in ins:
        blocks = ins.get("block", 1) > 1

        def held(number: int) -> _Look:
            index = unpacked(number, layout)
            warp, block = index.get("warp", 0), index.get("block", 0)
            colour = (block * ins.get("warp", 1) + warp) % COLOURS
            title = f"warp {warp}, lane {index['lane']}, register {index['register']}"
            title = f"block {block}, {title}" if blocks else title
            return _Look(f"{index['lane']}", index["register"], colour, (index["lane"] & 1) == 1, title)

        def name(colour: int) -> str:
            if not blocks:
                return f"warp {colour}"
            block, warp = divmod(colour, ins.get("warp", 1))
            return f"block {block}, warp {warp}"

        kinds = "warp and block" if blocks else "warp"
        return held, f"lane:register of each element; the colour is the {kinds}.", name
    names = [name for name, size in ins.items() if size > 1] or list(ins)

    def indexed(number: int) -> _Look:
        index = unpacked(number, layout)
        first, rest = (index[names[0]] if names else 0), [index[n] for n in names[1:]]
        colour = (rest[-1] if rest else 0) % COLOURS
        title = ", ".join(f"{n} {i}" for n, i in index.items())
        return _Look(":".join(map(str, reversed(rest))), first, colour, False, title)

    label = ":".join([*reversed(names[1:]), *names[:1]])
    last = names[-1] if names else "index"
    return indexed, f"{label} of each element; the colour is {last}.", lambda colour: f"{last} {colour}"


def _shared(layout: Layout, bits: int) -> tuple[Callable[[int], _Look], str, Callable[[int], str]]:
    def stored(number: int) -> _Look:
        index = unpacked(number, layout)
        offset = padded(index["offset"], layout.padding)
        bank = offset * bits // 8 // BANK_BYTES % BANKS
        block = index.get("block", 0)
        title = f"offset {offset}, byte {offset * bits // 8}, bank {bank}"
        title = f"block {block}, {title}" if layout.ins.get("block", 1) > 1 else title
        return _Look(f"b{bank}", offset, bank % COLOURS, bank >= COLOURS, title)

    text = f"bank:offset of each element, for elements of {bits} bits; the colour is the bank."
    text += f" Offsets are in elements; {BANKS} banks of {BANK_BYTES} bytes."
    return stored, text, lambda colour: f"bank {colour}, {colour + COLOURS}"


def cropped(drawing: Drawing, columns: int) -> Drawing:
    """Returns the drawing without the columns after the first ones."""
    if columns >= drawing.columns:
        return drawing
    cells = [
        replace(cell, width=min(cell.width, columns - cell.column)) for cell in drawing.cells if cell.column < columns
    ]
    return replace(
        drawing,
        columns=columns,
        cells=tuple(cells),
        note=f"{drawing.note} Only {columns} columns fit here.",
    )


def _place(row: int, column: int, shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, (*_leading(row, shape), column)))})"


def _row_name(row: int, shape: tuple[int, ...]) -> str:
    return ",".join(map(str, _leading(row, shape)))


def _leading(row: int, shape: tuple[int, ...]) -> list[int]:
    return [row // stride % size for size, stride in zip(shape[:-1], strides_of(shape[:-1]), strict=True)]
