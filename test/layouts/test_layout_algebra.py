# SPDX-License-Identifier: Apache-2.0
"""Operations on random layouts, against tables of all indices."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.layouts.brute import Table, bijections, layouts, product, table
from triton_ext.layouts import Layout, LayoutError, read

INS, OUTS, MIDDLE = ("register", "lane"), ("dim0", "dim1"), ("x", "y")


def table_of(layout: Layout) -> Table:
    return table(layout.bases, len(layout.shape))


def made(drawn: Any) -> tuple[Layout, Table]:
    bases, sizes = drawn
    layout = Layout.from_bases(bases, sizes)
    return layout, table(bases, len(sizes))


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(layouts(INS, OUTS))
def test_a_layout_is_its_table(drawn: Any) -> None:
    layout, expected = made(drawn)
    for (register, lane), image in expected.items():
        assert tuple(layout.apply(register=register, lane=lane).values()) == image
    images = list(expected.values())
    elements = layout.shape[0] * layout.shape[1]
    assert layout.is_bijective() == (len(set(images)) == len(images) == elements)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(bijections(INS, OUTS))
def test_inverse(drawn: Any) -> None:
    layout, expected = made(drawn)
    assert layout.is_bijective()
    inverse = layout.inverted()
    assert table_of(inverse) == {image: index for index, image in expected.items()}
    assert inverse.inverted() == layout


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(layouts(INS, OUTS, most=5))
def test_only_bijections_have_an_inverse(drawn: Any) -> None:
    layout, expected = made(drawn)
    if sorted(expected.values()) != sorted((i, j) for i in range(layout.shape[0]) for j in range(layout.shape[1])):
        with pytest.raises(LayoutError, match="only a bijective layout has an inverse"):
            layout.inverted()


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(layouts(INS, MIDDLE), st.data())
def test_composition(drawn: Any, data: st.DataObject) -> None:
    inner, first = made(drawn)
    bases, sizes = data.draw(layouts(MIDDLE, OUTS))
    for name, size in inner.outs.items():  # the outer layout has at least what the inner one puts out
        while 1 << len(bases[name]) < size:
            bases[name].append([0, 0])
    outer, second = made((bases, sizes))
    assert table_of(inner.composed(outer)) == {index: second[image] for index, image in first.items()}


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(bijections(INS, OUTS), st.data())
def test_in_terms_of(drawn: Any, data: st.DataObject) -> None:
    layout, expected = made(drawn)
    bits = sum(map(len, layout.bases.values()))
    other, its = made(data.draw(bijections(MIDDLE, OUTS, bits)))
    if other.outs != layout.outs:
        with pytest.raises(LayoutError, match="shapes"):
            layout.in_terms_of(other)
        return
    between = table_of(layout.in_terms_of(other))
    assert all(its[between[index]] == image for index, image in expected.items())


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(layouts(INS, OUTS, most=4), layouts(INS, OUTS, most=4))
def test_product_and_quotients(left: Any, right: Any) -> None:
    (a, of_a), (b, of_b) = made(left), made(right)
    c = a * b
    assert table_of(c) == product(of_a, of_b, list(a.ins.values()), list(a.shape))
    assert c.divided_left(a) == b
    assert c.divided_right(b) == a


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(layouts(INS, OUTS, most=6), layouts(INS, OUTS, most=3))
def test_a_quotient_times_the_divisor_is_the_layout(dividend: Any, divisor: Any) -> None:
    """There is a quotient exactly if a table of the right sizes has this product."""
    (a, _), (b, _) = made(dividend), made(divisor)
    left, right = a.divided_left(b), a.divided_right(b)
    if left is not None:
        assert b * left == a
    if right is not None:
        assert right * b == a
    assert (left is not None) == splits(a, b, low=True)
    assert (right is not None) == splits(a, b, low=False)


def splits(a: Layout, b: Layout, *, low: bool) -> bool:
    """Whether the matrix of `a` has that of `b` in the low or high corner, and zeros beside and below it."""
    if any(b.ins[n] > a.ins[n] for n in a.ins) or any(b.outs[n] > a.outs[n] for n in a.outs):
        return False
    for name, columns in a.bases.items():
        mine = b.bases[name]
        start = 0 if low else len(columns) - len(mine)
        for i, basis in enumerate(columns):
            inside = start <= i < start + len(mine)
            for j, (out, value) in enumerate(zip(a.outs, basis, strict=True)):
                size, its = a.outs[out], b.outs[out]
                part, rest = (value % its, value // its) if low else (value // (size // its), value % (size // its))
                if (inside and (part != mine[i - start][j] or rest)) or (not inside and part):
                    return False
    return True


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.permutations([(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]), st.integers(1, 4))
def test_the_text_of_a_layout_is_read_as_the_layout(columns: list[tuple[int, int]], cut: int) -> None:
    """Triton's attributes take layouts whose bases have one bit each."""
    distributed = {"register": columns[:cut], "lane": columns[cut : cut + 1], "warp": columns[cut + 1 :], "block": []}
    for bases, kind in ((distributed, "distributed"), ({"offset": columns, "block": []}, "shared")):
        layout = Layout.from_bases(bases, (8, 8))
        assert layout.kind == kind
        assert read(layout.to_text(), layout.shape) == layout


def test_equal_layouts_have_equal_hashes() -> None:
    a, b = (Layout.from_bases({"register": [[1]], "lane": [[2]]}, (4,)) for _ in range(2))
    assert a == b
    assert hash(a) == hash(b)
    assert a != Layout.from_bases({"register": [[2]], "lane": [[1]]}, (4,))
    assert a != 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Layout.from_bases({"register": [[1]]}, (3,)), "dim0 has the size 3"),
        (lambda: Layout.from_bases({"register": [[1, 0]]}, (4,)), "2 coordinates, not 1"),
        (lambda: Layout.from_bases({"register": [[4]]}, (4,)), "has 4 in dim0, which has the size 4"),
        (lambda: Layout.from_bases({"register": [[0]] * 31}, (4,)), "have 31 bits together"),
        (lambda: Layout.from_bases({"register": [[1]]}, (2,)).apply(lane=1), "no dimension lane, only register"),
        (lambda: Layout.from_bases({"register": [[1]]}, (2,)).apply(register=2), "register is 2"),
        (
            lambda: Layout.from_bases({"a": [[1]]}, (2,)).composed(Layout.from_bases({"b": [[1]]}, (2,))),
            "the outputs are dim0 \\(2\\) and the inputs of the outer layout b \\(2\\)",
        ),
        (
            lambda: Layout.from_bases({"a": [[1, 0]], "b": []}, (2, 2)).product(
                Layout.from_bases({"b": [], "a": []}, (1, 1))
            ),
            "another order",
        ),
    ],
)
def test_mistakes(call: Any, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        call()
