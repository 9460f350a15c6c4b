# SPDX-License-Identifier: Apache-2.0
"""Reads JSON that somebody else may have written: what is not of the expected shape counts as not there."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

#: A type, ``object`` for anything and None for ``null``; ``[shape]`` for a list of any length, ``(shape, ...)`` for one
#: of that length; ``{"key": shape}`` for an object with these keys, ``{str: shape}`` for one with any keys.
Shape = Any


class AnyOf(NamedTuple):
    """The shape of what has one of two shapes."""

    one: Shape
    other: Shape


def parsed(text: str | bytes | None, shape: Shape) -> Any:
    """The value that `text` stands for, None where it is not JSON of that shape."""
    try:
        value = None if text is None else json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if fits(value, shape) else None


def fits(value: object, shape: Shape) -> bool:
    """Whether `value`, as JSON gives or takes it, has `shape`. ``true`` is no number."""
    if isinstance(shape, type):  # first, because most values of the discovery index are compared with a type
        return shape is object or type(value) is shape
    if isinstance(shape, AnyOf):
        return fits(value, shape.one) or fits(value, shape.other)
    if isinstance(shape, list):
        return isinstance(value, list | tuple) and all(fits(item, shape[0]) for item in value)
    if isinstance(shape, tuple):
        return isinstance(value, list | tuple) and len(value) == len(shape) and all(map(fits, value, shape))
    if isinstance(shape, dict):
        if type(value) is not dict:
            return False
        if str in shape:
            return all(fits(item, shape[str]) for item in value.values())
        return value.keys() == shape.keys() and all(fits(value[key], inner) for key, inner in shape.items())
    return value is None and shape is None
