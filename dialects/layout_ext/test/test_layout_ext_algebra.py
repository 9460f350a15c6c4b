# SPDX-License-Identifier: Apache-2.0
"""`layout_ext` against brute force: random layouts, whose combinations are computed element by element.

Triton itself compares layouts: `tt.reshape` to the same shape verifies only if both layouts are equal. The expected one
is #ttg.linear, with vectors read from a table of which element each register, lane and warp holds.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from triton._C.libtriton import ir

import triton_ext as tx

INPUTS = ("register", "lane", "warp")
Place = tuple[int, ...]
Element = tuple[int, ...]

MODULE = """
module attributes {{
    "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, "ttg.threads-per-warp" = {lanes} : i32}} {{
  tt.func @f(%a: tensor<{shape}xf32, {layout}>) {{
    %0 = tt.reshape %a : tensor<{shape}xf32, {layout}> -> tensor<{shape}xf32, {expected}>
    tt.return
  }}
}}
"""


@dataclass(frozen=True)
class Layout:
    """A layout as a table.

    Attributes:
        sizes: the numbers of registers, lanes and warps.
        shape: the shape of the tensor.
        element: the element that a register of a lane of a warp holds.
    """

    sizes: Place
    shape: Element
    element: Callable[[Place], Element]

    def table(self) -> dict[Place, Element]:
        return {place: self.element(place) for place in itertools.product(*map(range, self.sizes))}

    def text(self) -> str:
        """The layout as #ttg.linear, after a check that its vectors give the whole table."""
        table, bits = self.table(), [size.bit_length() - 1 for size in self.sizes]

        def unit(i: int, bit: int) -> Place:
            return tuple(1 << bit if k == i else 0 for k in range(len(self.sizes)))

        vectors = [[table[unit(i, bit)] for bit in range(bits[i])] for i in range(len(bits))]
        for place, element in table.items():
            total = [0] * len(self.shape)
            for value, row in zip(place, vectors, strict=True):
                for bit, vector in enumerate(row):
                    if value >> bit & 1:
                        total = [a ^ b for a, b in zip(total, vector, strict=True)]
            assert tuple(total) == element
        named = ", ".join(f"{name} = {[list(v) for v in row]}" for name, row in zip(INPUTS, vectors, strict=True))
        return f"#ttg.linear<{{{named}, block = []}}>"

    def over(self) -> str:
        return f"{self.text()} over {list(self.shape)}"


def random_layout(random: Random, rank: int) -> Layout:
    """Returns a layout in which every element has a place, some have several, and the bits are in any order."""
    bits = [random.randrange(4) for _ in range(rank)]
    bits[0] = bits[0] or 1  # Triton has no layout of a tensor with one element that is held once
    vectors: list[Element] = [
        tuple(1 << bit if k == dim else 0 for k in range(rank)) for dim in range(rank) for bit in range(bits[dim])
    ]
    vectors += [(0,) * rank] * random.randrange(3)
    random.shuffle(vectors)
    cuts = sorted(random.randrange(len(vectors) + 1) for _ in range(2))
    rows = [vectors[: cuts[0]], vectors[cuts[0] : cuts[1]], vectors[cuts[1] :]]
    # Triton drops registers that repeat others, so only lanes and warps hold an element again.
    rows[0] = [v for v in rows[0] if any(v)]

    def element(place: Place) -> Element:
        total = [0] * rank
        for value, row in zip(place, rows, strict=True):
            for bit, vector in enumerate(row):
                if value >> bit & 1:
                    total = [a ^ b for a, b in zip(total, vector, strict=True)]
        return tuple(total)

    return Layout(tuple(1 << len(row) for row in rows), tuple(1 << b for b in bits), element)


def product_of(inner: Layout, outer: Layout) -> Layout:
    """Returns the layout in which the low bits of a place choose in the tile and the high bits choose the tile."""

    def element(place: Place) -> Element:
        low = inner.element(tuple(p % n for p, n in zip(place, inner.sizes, strict=True)))
        high = outer.element(tuple(p // n for p, n in zip(place, inner.sizes, strict=True)))
        return tuple(a + b * n for a, b, n in zip(low, high, inner.shape, strict=True))

    sizes = tuple(a * b for a, b in zip(inner.sizes, outer.sizes, strict=True))
    return Layout(sizes, tuple(a * b for a, b in zip(inner.shape, outer.shape, strict=True)), element)


def quotient_of(whole: Layout, tile: Layout) -> Layout | None:
    """Returns the layout whose product with `tile` is `whole`, found by trying; None if there is none."""
    if any(a < b for a, b in zip(whole.sizes + whole.shape, tile.sizes + tile.shape, strict=True)):
        return None

    def element(place: Place) -> Element:
        corner = whole.element(tuple(p * n for p, n in zip(place, tile.sizes, strict=True)))
        return tuple(c // n for c, n in zip(corner, tile.shape, strict=True))

    sizes = tuple(a // b for a, b in zip(whole.sizes, tile.sizes, strict=True))
    found = Layout(sizes, tuple(a // b for a, b in zip(whole.shape, tile.shape, strict=True)), element)
    return found if product_of(tile, found).table() == whole.table() else None


Check = Callable[..., None]


@pytest.fixture(scope="module")
def context() -> ir.context:
    tx.load("layout_ext")
    context = ir.context()
    ir.load_dialects(context)
    return context


@pytest.fixture
def check(context: ir.context, tmp_path: Path) -> Check:
    """Returns a function that raises RuntimeError unless Triton finds a layout equal to the expected one."""

    def check(layout: str, expected: Layout, text: str = "") -> None:
        shape = "x".join(map(str, expected.shape))
        lanes, warps = expected.sizes[1:]
        module = MODULE.format(shape=shape, layout=layout, expected=text or expected.text(), lanes=lanes, warps=warps)
        (tmp_path / "f.mlir").write_text(module)
        ir.parse_mlir_module(str(tmp_path / "f.mlir"), context)

    return check


def with_two_exchanged(layout: Layout, random: Random) -> str:
    """Returns `layout` with two different vectors exchanged, or an empty text if all are the same."""
    text = layout.text()
    vectors = sorted(set(re.findall(r"\[[\d, ]+\]", text)))
    if len(vectors) < 2:
        return ""
    a, b = random.sample(vectors, 2)
    return text.replace(a, "@").replace(b, a).replace("@", b)


@pytest.mark.parametrize("seed", range(40))
def test_product(seed: int, check: Check) -> None:
    random = Random(seed)
    rank = random.randint(1, 3)
    inner, outer = random_layout(random, rank), random_layout(random, rank)
    product = product_of(inner, outer)
    layout = f"#layout_ext.product<{inner.over()}, {outer.over()}>"
    check(layout, product)
    if other := with_two_exchanged(product, random):
        with pytest.raises(RuntimeError):
            check(layout, product, other)


@pytest.mark.parametrize("seed", range(40))
def test_quotient(seed: int, check: Check, capfd: pytest.CaptureFixture[str]) -> None:
    """A product divided by its tile gives the other factor; any two layouts divide if trying finds a quotient."""
    random = Random(seed)
    rank = random.randint(1, 2)
    tile, outer = random_layout(random, rank), random_layout(random, rank)
    whole = product_of(tile, outer)
    check(f"#layout_ext.quotient<{whole.over()}, {tile.over()}>", outer)
    other = random_layout(random, rank)
    layout = f"#layout_ext.quotient<{whole.over()}, {other.over()}>"
    if expected := quotient_of(whole, other):
        if math.prod(expected.sizes) > 1:
            check(layout, expected)
    else:
        with pytest.raises(RuntimeError):
            check(layout, outer)
        assert "expected a layout that is a product" in capfd.readouterr().err


@pytest.mark.slow
def test_most_random_layouts_do_not_divide() -> None:
    """Both cases of the test above occur."""
    found = set()
    for seed in range(40):
        random = Random(seed)
        rank = random.randint(1, 2)
        whole = product_of(random_layout(random, rank), random_layout(random, rank))
        found.add(quotient_of(whole, random_layout(random, rank)) is None)
    assert found == {True, False}


@pytest.mark.parametrize("seed", range(40))
def test_composed(seed: int, check: Check) -> None:
    random = Random(seed)
    rank = random.randint(1, 3)
    layout = random_layout(random, rank)
    bits = [(dim, 1 << bit) for dim in range(rank) for bit in range(layout.shape[dim].bit_length() - 1)]
    moved = dict(zip(bits, random.sample(bits, len(bits)), strict=True))

    def map_of(element: Element) -> Element:
        total = [0] * rank
        for (dim, value), (to, gives) in moved.items():
            total[to] |= gives if element[dim] & value else 0
        return tuple(total)

    rows = [[[gives if k == to else 0 for k in range(rank)] for (dim, _), (to, gives) in moved.items() if dim == d]
            for d in range(rank)]  # fmt: skip
    text = f"#layout_ext.map<{', '.join(map(str, rows))}>"
    composed = Layout(layout.sizes, layout.shape, lambda place: map_of(layout.element(place)))
    check(f"#layout_ext.composed<{layout.over()}, {text}>", composed)


@pytest.mark.parametrize("seed", range(40))
def test_warp_tile(seed: int, check: Check) -> None:
    """Counting through a tile in its order gives the neighbours in a lane, then the lanes, then further registers."""
    random = Random(seed)
    rank = random.randint(1, 3)
    order = random.sample(range(rank), rank)
    tile = [1 << random.randint(1, 3) for _ in range(rank)]
    warps = [1 << random.randrange(3) for _ in range(rank)]
    vec = 1 << random.randrange(tile[order[0]].bit_length())
    lanes = 1 << random.randrange((math.prod(tile) // vec).bit_length())
    registers = math.prod(tile) // lanes

    def element(place: Place) -> Element:
        register, lane, warp = place
        number = register % vec + vec * lane + vec * lanes * (register // vec)
        at, corner = [0] * rank, [0] * rank
        for dim in order:
            number, at[dim] = divmod(number, tile[dim])
        for dim in reversed(range(rank)):
            warp, corner[dim] = divmod(warp, warps[dim])
        return tuple(a + c * t for a, c, t in zip(at, corner, tile, strict=True))

    expected = Layout(
        (registers, lanes, math.prod(warps)), tuple(t * w for t, w in zip(tile, warps, strict=True)), element
    )
    options = f"tile = {tile}, vec = {vec}, order = {order}, warps = {warps}, lanes = {lanes}"
    check(f"#layout_ext.warp_tile<{{{options}}}>", expected)
