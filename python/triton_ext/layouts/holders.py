# SPDX-License-Identifier: Apache-2.0
"""Which indices of a layout hold which element, by evaluating the layout at all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from .errors import LayoutError
from .layout import Layout

_MOST_INDICES = 1 << 22


def images(layout: Layout) -> list[int]:
    """Returns the element of each index, as a number in row-major order.

    The first input dimension of the layout varies fastest.

    Raises:
        LayoutError: the layout has more than four million indices.
    """
    if math.prod(layout.ins.values()) > _MOST_INDICES:
        raise LayoutError(f"the layout has more than {_MOST_INDICES:,} indices, which are too many to evaluate")
    # Sizes are powers of two, so the exclusive or of coordinates is that of row-major numbers.
    strides = strides_of(layout.shape)
    found = [0]
    for columns in layout.bases.values():
        for basis in columns:
            image = sum(coordinate * stride for coordinate, stride in zip(basis, strides, strict=True))
            found += [each ^ image for each in found]
    return found


def holders(layout: Layout) -> list[list[int]]:
    """Returns for each element, in row-major order, the numbers of its indices, ascending; see `unpacked`."""
    found: list[list[int]] = [[] for _ in range(math.prod(layout.shape))]
    for number, element in enumerate(images(layout)):
        found[element].append(number)
    return found


def unpacked(number: int, layout: Layout) -> dict[str, int]:
    """Returns the index with that number: a value for each input dimension."""
    index = {}
    for name, size in layout.ins.items():
        number, index[name] = divmod(number, size)
    return index


def strides_of(shape: tuple[int, ...]) -> list[int]:
    """Returns the row-major strides of a shape, in elements."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def coordinates(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields the coordinates of each element in row-major order."""
    return itertools.product(*map(range, shape))


def padded(offset: int, padding: tuple[tuple[int, int], ...]) -> int:
    """Returns where a padded layout puts the element with this linear offset, in elements.

    The rule is that of ``PaddedSharedEncodingAttr``: each pair of interval and padding adds the padding once for every
    full interval before the element.
    """
    return offset + sum(offset // interval * pad for interval, pad in padding)
