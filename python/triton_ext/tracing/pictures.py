# SPDX-License-Identifier: Apache-2.0
"""The pictures of the layouts in the modules of a trace: each is drawn once, however many modules have it."""

from __future__ import annotations

import re
from typing import Any

from ..errors import TritonExtError
from ..layouts import show
from ..layouts.drawing import Drawing
from ..layouts.reading import aliases, resolved
from ..layouts.svg import colour_of

# tensor<64x32xf16, #blocked> and !ttg.memdesc<64x32xf16, #shared, ...>; an element may be a pointer.
_TYPE = re.compile(r"(?:tensor|memdesc)<((?:\d+x)+)(!?[\w.]+(?:<[^<>]*>)?), (#[\w$-]+)(?=[,>])")
_BITS = re.compile(r"\d+$")
_WINDOW = (32, 32)  # elements that a picture shows


class Pictures:
    """The drawings of a page, and which name in which module means which.

    Attributes:
        drawings: what the script of the page draws.
        names: for each module, by its number: name and shape to the number of the drawing.
    """

    def __init__(self) -> None:
        self.drawings: list[dict[str, Any]] = []
        self.names: dict[int, dict[str, dict[str, int]]] = {}
        self._numbers: dict[tuple[str, str, int], int | None] = {}

    def add(self, number: int, module: str) -> None:
        """Draws the layouts of the types in a module in MLIR's syntax; those that cannot be read have no picture."""
        if number in self.names:
            return
        defined = aliases(module)
        found: dict[str, dict[str, int]] = {}
        for sizes, element, name in dict.fromkeys(_TYPE.findall(module)):
            drawn = self._drawn(resolved(name, defined), sizes[:-1], _bits(element)) if name in defined else None
            if drawn is not None:
                found.setdefault(name, {}).setdefault(f"{sizes}{element}", drawn)
        self.names[number] = found

    def _drawn(self, text: str, sizes: str, bits: int) -> int | None:
        key = text, sizes, bits if "shared" in text else 0
        if key not in self._numbers:
            shape = tuple(map(int, sizes.split("x")))
            try:
                drawing = show(text, shape, bits=bits, window=_WINDOW).drawing
            except TritonExtError:
                self._numbers[key] = None
            else:
                self._numbers[key] = len(self.drawings)
                self.drawings.append(_plain(drawing))
        return self._numbers[key]


def _bits(element: str) -> int:
    """Returns the bits of an element type; a pointer has 64."""
    found = _BITS.search(element)
    floats = {"f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "tf32": 32}
    return floats.get(element, max(8, int(found[0])) if found else 64)


def _plain(drawing: Drawing) -> dict[str, Any]:
    def colour(number: int, strong: bool) -> str:
        return "#{:02x}{:02x}{:02x}".format(*colour_of(number, strong))

    return {
        "title": drawing.title,
        "note": drawing.note,
        "rows": drawing.rows,
        "columns": drawing.columns,
        "cells": [(c.row, c.column, c.width, c.label, colour(c.colour, c.strong)) for c in drawing.cells],
        "legend": [(colour(number, False), name) for number, name in drawing.legend],
    }
