# SPDX-License-Identifier: Apache-2.0
"""`tx.sanitize.check_launch` of kernels whose arguments are tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from triton_ext.errors import TritonExtError

Tensor = tx.sanitize.Tensor


class Row(NamedTuple):
    data: Any
    size: Any


@triton.jit
def by_tuple(source, sizes, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(source.data + i * sizes[1], mask=i < source.size)
    tl.store(out[0][0] + i, v, mask=i < sizes[0])


def checked(*arguments: object) -> Any:
    return tx.sanitize.check_launch(by_tuple, *arguments, B=64, grid=(2,), target="cuda:90")


def test_the_parts_are_tensors_and_integers() -> None:
    small, out = Tensor((100,)), Tensor((100,))
    assert not checked(Row(small, 100), (100, 1), ((out,),))
    source, target = checked(Row(small, 101), (128, 1), ((out,),)).findings
    assert (source.check, source.argument, source.coordinates) == ("bounds", "source.data", (100,))
    assert (target.check, target.argument, target.coordinates) == ("bounds", "out[0][0]", (100,))


def test_an_integer_of_a_tuple_wraps() -> None:
    (found,) = checked(Row(Tensor((2**37,)), 100), (100, 2**30), ((Tensor((100,)),),)).findings
    assert (found.check, found.values["exact"]) == ("overflow", 2**31)


def test_a_constant_in_a_tuple_is_refused() -> None:
    with pytest.raises(TritonExtError, match="'sizes' is a tuple with a constant"):
        checked(Row(Tensor((100,)), 100), (100, None), ((Tensor((100,)),),))
