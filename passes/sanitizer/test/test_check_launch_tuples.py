# SPDX-License-Identifier: Apache-2.0
"""`tx.sanitize.check_launch` of kernels whose arguments are tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

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


@triton.jit
def by_number(x, n, value, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, value, mask=i < n)


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


def test_the_divisors_of_parts() -> None:
    """`x` and `Row.size` are specialised on multiples of 16, as a launch with the first arguments would."""
    kinds = {"source": Row("*fp32", "i32"), "sizes": ("i32", "i32"), "out": (("*fp32",),), "B": "constexpr"}
    divisor = [["tt.divisibility", 16]]
    attributes = {(0, 0): divisor, (0, 1): divisor, (2, 0, 0): divisor}
    compiled = ASTSource(by_tuple, signature=kinds, constexprs={"B": 64}, attrs=attributes)

    def found(source: Tensor, size: int, out: Tensor, *grid: int) -> set[str | None]:
        arguments = Row(source, size), (128, 1), ((out,),)
        report = tx.sanitize.check_launch(compiled, *arguments, grid=grid, checks="hints", target="cuda:90")
        return {one.argument for one in report.findings}

    aligned, odd = Tensor((128,)), Tensor((128,), alignment=4)
    assert found(aligned, 112, aligned, 2) == set()
    assert found(odd, 113, aligned, 2) == {"source.data", "source.size"}
    assert found(aligned, 112, odd, 2) == {"out[0][0]"}
    assert found(odd, 113, odd, 0) == set()  # nothing runs


def test_numbers_of_numpy_are_no_tensors() -> None:
    small, out = Tensor((100,)), Tensor((100,))
    plain = checked(Row(small, 101), (128, 1), ((out,),))
    assert len(plain.findings) == 2
    of_numpy = checked(Row(small, np.int64(101)), (np.int32(128), np.uint8(1)), ((out,),))
    assert of_numpy == plain

    (found,) = tx.sanitize.check_launch(
        by_number, out, np.int64(101), np.float32(0.5), B=np.int64(128), grid=(1,), target="cuda:90"
    ).findings
    assert (found.argument, found.coordinates, found.values["n"]) == ("x", (100,), 101)


def test_a_constant_in_a_tuple_is_refused() -> None:
    with pytest.raises(TritonExtError, match="'sizes' is a tuple with a constant"):
        checked(Row(Tensor((100,)), 100), (100, None), ((Tensor((100,)),),))
