# SPDX-License-Identifier: Apache-2.0
"""`show`: the picture of a layout."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .drawing import draw
from .errors import LayoutError
from .layout import Layout
from .picture import Picture
from .reading import read

_WIDTH = re.compile(r"elementBitWidth = (\d+)")


def show(
    layout: Layout | str,
    shape: Sequence[int] | None = None,
    *,
    bits: int | None = None,
    module: str | None = None,
    window: tuple[int, int] = (32, 32),
) -> Picture:
    """Returns the picture of a layout: which register, lane, warp and block holds each element, or its bank and offset.

    Args:
        layout: a layout, or the text of an attribute as `read` takes it.
        shape: the shape in elements; not needed for a layout, which has one.
        bits: the bits of an element, for the banks of a shared layout; by default what the attribute says, else 16.
        module: TTGIR that defines the name `layout`.
        window: the most rows and columns of elements that are drawn.

    Raises:
        LayoutError: the layout cannot be read, or has another shape.
    """
    if isinstance(layout, str):
        if shape is None:
            raise LayoutError("an attribute has no shape", fix="show(layout, (32, 32))")
        layout = read(layout, shape, module=module)
    elif shape is not None and tuple(shape) != layout.shape:
        raise LayoutError(f"the layout has the shape {layout.shape}, not {tuple(shape)}")
    if bits is None:
        said = _WIDTH.search(layout.encoding or "")
        bits = int(said[1]) if said else 16
    if min(window) < 1:
        raise LayoutError(f"the window {window} shows nothing")
    size = "x".join(map(str, layout.shape))
    return Picture(draw(layout, bits=bits, window=window, title=f"{_short(layout)} on {size}"))


def _short(layout: Layout) -> str:
    text = " ".join(layout.to_text().split())
    return text if len(text) <= 300 else f"{text[:297]}..."
