# SPDX-License-Identifier: Apache-2.0
"""The functions of the dialect ``tally`` (in ``tally/``, a project of its own), as its author would ship them."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import triton
import triton.language as tl

import triton_ext as tx
from triton_ext.language import attr


class Mode(enum.Enum):
    """What `order` sorts by."""

    VALUE = 0
    MAGNITUDE = 1


def _order(lhs: Any, rhs: Any, label: str, mode: object = "value", seed: int | None = None) -> Any:
    return np.minimum(lhs, rhs), np.maximum(lhs, rhs)


@tx.language.op("tally.order", interpret=_order)
def order(
    lhs: tl.tensor,
    rhs: tl.tensor,
    label: tl.constexpr,
    mode: Annotated[tl.constexpr, attr.choice(Mode)] = "value",
    seed: tl.constexpr = None,
) -> tuple[tl.tensor, tl.tensor]:
    """The smaller and the larger of two tensors.

    Args:
        lhs: one.
        rhs: the other.
        label: a text.
        mode: what to sort by.
        seed: an integer.
    """


#: What `note` has been given under the interpreter.
noted: list[Any] = []


def _note(name: str, *values: Any, mask: Any = None) -> None:
    noted.append((name, [value.copy() for value in values], mask))


@tx.language.op("tally.note", interpret=_note)
def note(name: attr.string, *values: tl.tensor, mask: tl.tensor | None = None) -> None:
    """Notes values."""


@tx.language.op("tally.note")
def note_all(name: tl.constexpr, values: tuple[tl.tensor, ...], mask: tl.tensor | None = None) -> None:
    """Notes the values of a tuple."""


@tx.language.op("tally.tag")
def tag(  # noqa: PLR0917 - one for each kind
    flag: tl.constexpr = None,
    count: attr.i32 = None,
    ratio: attr.f32 = None,
    element: attr.type = None,
    list_: tl.constexpr = None,
    sizes: attr.dense(attr.i32) = None,
    callee: attr.symbol = None,
    fast: attr.unit = None,
    any: attr.text = None,  # noqa: A002
    exact: tl.constexpr = None,
) -> None:
    """Has an attribute of every kind."""


@tx.language.op("tally.tag")
def tag_wrongly(count: attr.i64) -> None:
    """Gives an i32 attribute 64 bits."""


@tx.language.op("tally.tag")
def tag_unknown(colour: tl.constexpr) -> None:
    """Gives an attribute that the operation does not have."""


@tx.language.op("tally.count", result="x")
def count(x: tl.tensor) -> tl.tensor:
    """Has the type of its argument."""


class Interval(tl.core.base_value):
    """A value of two tensors."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high
        self.type = IntervalType(low.type)

    def _flatten_ir(self, handles: list[Any]) -> None:
        self.low._flatten_ir(handles)
        self.high._flatten_ir(handles)


class IntervalType(tl.core.base_type):
    """The type of an `Interval`."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def _flatten_ir_types(self, builder: Any, out: list[Any]) -> None:
        self.of._flatten_ir_types(builder, out)
        self.of._flatten_ir_types(builder, out)

    def _unflatten_ir(self, handles: list[Any], cursor: int) -> tuple[Interval, int]:
        low, cursor = self.of._unflatten_ir(handles, cursor)
        high, cursor = self.of._unflatten_ir(handles, cursor)
        return Interval(low, high), cursor


@tx.language.op("tally.order", result=lambda lhs: IntervalType(lhs.type))
def interval(lhs: tl.tensor, rhs: tl.tensor, label: tl.constexpr, mode: attr.i32 = 0) -> Interval:
    """The interval between two tensors."""


@tx.language.op("tally.note")
def note_interval(interval: Interval, name: tl.constexpr = "interval", mask: tl.tensor | None = None) -> None:
    """Notes the ends of an interval."""


@tx.language.op("tally.count", result=lambda x: tl.int64 if x.type.is_block() else x.type)
def wide(x: tl.tensor) -> tl.tensor:
    """Has a type that depends on its argument's."""


@tx.language.op("tally.count")
def uncounted(x: tl.tensor) -> tl.tensor:
    """Cannot infer its result."""


@contextlib.contextmanager
def _scope(name: str) -> Iterator[None]:
    noted.append(f"begin {name}")
    yield
    noted.append(f"end {name}")


@tx.language.op("tally.scope", region="tally.yield", interpret=_scope)
def scope(name: tl.constexpr) -> None:
    """Has the block in its region."""


@tx.language.op("tally.scope", region=True)
def open_scope(name: tl.constexpr) -> None:
    """Forgets what ends the region."""


@tx.language.op("tally.begin", end="tally.end", result=tx.language.opaque("!tally.token"), interpret=_scope)
def timed(name: tl.constexpr) -> None:
    """Has the block between two operations."""


@tx.language.op("tally.begin", result=tx.language.opaque("!tally.token"))
def begin(name: tl.constexpr) -> None:
    """Makes a token."""


@tx.language.op("tally.end")
def end(token: tl.core.base_value) -> None:
    """Takes a token."""


@tx.language.op("math.floor", dtypes={"x": (tl.float16, tl.float32)}, interpret=np.floor)
def floor(x: tl.tensor) -> tl.tensor:
    """The largest integer that is not above `x`."""


@floor.overload("tally.count", dtypes={"x": (tl.int32, tl.uint32)}, result="x", interpret=lambda x: x)
def floor(x: tl.tensor) -> tl.tensor:
    """An integer is its own floor."""


@tx.language.op()
@triton.jit
def spread(lhs, rhs, scale: tl.constexpr = 1):
    """How far apart two tensors are."""
    low, high = order(lhs, rhs, "spread")
    return (high - low) * scale
