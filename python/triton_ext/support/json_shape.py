# SPDX-License-Identifier: Apache-2.0
"""Reads JSON from an untrusted source: a value that does not have the expected shape counts as missing."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

#: A shape is a type, ``object`` for any value or None for ``null``; ``[shape]`` for a list of any length, a tuple of
#: shapes for a list of that length; ``{"key": shape}`` for an object with these keys, ``{str: shape}`` for one with any
#: keys.
Shape = Any


class AnyOf(NamedTuple):
    """The shape of a value that has one of two shapes."""

    one: Shape
    other: Shape


def parsed(text: str | bytes | None, shape: Shape) -> Any:
    """Returns the value of `text`; None if it is not JSON, or does not have the shape."""
    try:
        value = None if text is None else json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if fits(value, shape) else None


def fits(value: object, shape: Shape) -> bool:
    """Whether `value`, which consists of JSON's types or tuples, has `shape`; ``true`` does not count as a number."""
    if isinstance(shape, type):  # first, because most shapes in the discovery index are types
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
