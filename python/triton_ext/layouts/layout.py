# SPDX-License-Identifier: Apache-2.0
"""`Layout`: a linear layout, with the attribute that it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import library
from .errors import LayoutError

_DISTRIBUTED = ("register", "lane", "warp", "block")
_SHARED = ("offset", "block")
_MOST_BITS = 30  # of all inputs or outputs together: Triton's integers have 32


@dataclass(frozen=True, eq=False)
class Layout:
    """A linear layout: a map from hardware indices to the elements of a tensor, in which sums are exclusive ors.

    The operations are those of Triton's ``LinearLayout`` (``triton/Tools/LinearLayout.h``). A layout is made by
    `triton_ext.layouts.read` or by `from_bases`.

    Attributes:
        linear: Triton's own object.
        kind: ``distributed``, ``shared``, ``memory`` for tensor memory, or ``linear`` for one that was computed.
        encoding: the attribute, as MLIR prints it; None for a layout that was computed.
        padding: for each interval of a padded shared layout the interval and the padding, both in elements.
    """

    linear: Any
    kind: str = "linear"
    encoding: str | None = None
    padding: tuple[tuple[int, int], ...] = ()

    @classmethod
    def from_bases(
        cls, bases: Mapping[str, Sequence[Sequence[int]]], shape: Sequence[int] | Mapping[str, int]
    ) -> Layout:
        """Returns the layout with these bases.

        Args:
            bases: for each input dimension the images of its indices 1, 2, 4, ..., each a coordinate for every output
                dimension, e.g. ``{"register": [[0, 1]], "lane": [[1, 0], [2, 0]]}``.
            shape: the sizes of the output dimensions, which are powers of two; without names they are ``dim0``, ...

        Raises:
            LayoutError: a size is not a power of two, or a basis has another number of coordinates or one that is
                outside.
        """
        outs = dict(shape) if isinstance(shape, Mapping) else {f"dim{i}": size for i, size in enumerate(shape)}
        check_sizes(outs)
        for name, columns in bases.items():
            for basis in columns:
                if len(basis) != len(outs):
                    raise LayoutError(
                        f"the basis {list(basis)} of {name} has {len(basis)} coordinates, not {len(outs)}"
                    )
                for (out, size), coordinate in zip(outs.items(), basis, strict=True):
                    if not 0 <= coordinate < size:
                        raise LayoutError(
                            f"the basis {list(basis)} of {name} has {coordinate} in {out}, which has the size {size}"
                        )
        _check_bits(sum(map(len, bases.values())), "input")
        ins = [[name, [list(basis) for basis in columns]] for name, columns in bases.items()]
        return cls._computed({"in": ins, "out": [list(pair) for pair in outs.items()]})

    @classmethod
    def _computed(cls, plain: library.Plain) -> Layout:
        layout = cls(linear_of(plain))
        ins, outs = tuple(layout.ins), tuple(layout.outs)
        if outs == tuple(f"dim{i}" for i in range(len(outs))) and outs:
            kind = "distributed" if ins == _DISTRIBUTED else "shared" if ins == _SHARED else "linear"
            return cls(layout.linear, kind)
        return layout

    @property
    def bases(self) -> dict[str, list[list[int]]]:
        """The images of the indices 1, 2, 4, ... of each input dimension."""
        return {name: [list(basis) for basis in columns] for name, columns in self.linear.bases}

    @property
    def ins(self) -> dict[str, int]:
        """The sizes of the input dimensions."""
        return {name: 1 << len(columns) for name, columns in self.linear.bases}

    @property
    def outs(self) -> dict[str, int]:
        """The sizes of the output dimensions."""
        return dict(self.linear.out_dims)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the output dimensions, in order."""
        return tuple(self.outs.values())

    def apply(self, **indices: int) -> dict[str, int]:
        """Returns the coordinates of an index; input dimensions that are not named are 0.

        Raises:
            LayoutError: there is no such input dimension, or it is smaller.
        """
        for name, index in indices.items():
            if name not in self.ins:
                raise LayoutError(f"the layout has no dimension {name}, only {_listed(self.ins)}")
            if not 0 <= index < self.ins[name]:
                raise LayoutError(f"{name} is {index}, and the layout has {self.ins[name]}")
        return dict(self.linear.apply({name: indices.get(name, 0) for name in self.ins}))

    def is_bijective(self) -> bool:
        """Whether each element has exactly one index."""
        return bool(self.linear.is_invertible())

    def inverted(self) -> Layout:
        """Returns the layout from elements to indices.

        Raises:
            LayoutError: the layout is not bijective.
        """
        self._refuse_padding()
        if not self.is_bijective():
            inputs, outputs = math.prod(self.ins.values()), math.prod(self.shape)
            raise LayoutError(
                f"only a bijective layout has an inverse; this one maps {inputs} indices to {outputs} elements"
                + (", some of them more than once" if inputs >= outputs else "")
            )
        return self._computed(plain_of(self.linear.invert()))

    def composed(self, outer: Layout) -> Layout:
        """Returns the layout that maps an index x to ``outer(self(x))``.

        Raises:
            LayoutError: the output dimensions of this layout are not the input dimensions of `outer`, or are larger.
        """
        self._refuse_padding()
        outer._refuse_padding()
        if set(self.outs) != set(outer.ins):
            raise LayoutError(
                f"the outputs are {_listed(self.outs)} and the inputs of the outer layout {_listed(outer.ins)}"
            )
        for name, size in self.outs.items():
            if size > outer.ins[name]:
                raise LayoutError(f"{name} has the size {size}, and in the outer layout {outer.ins[name]}")
        return self._computed(plain_of(self.linear.compose(outer.linear)))

    def in_terms_of(self, other: Layout) -> Layout:
        """Returns a layout C from this layout's indices to those of `other`, so that ``self(x) == other(C(x))``.

        This is Triton's ``invertAndCompose``. If `other` holds an element more than once, C has the least index.

        Raises:
            LayoutError: the shapes differ, or `other` lacks elements.
        """
        self._refuse_padding()
        if self.outs != other.outs:
            raise LayoutError(f"the layouts have the shapes {self.shape} and {other.shape}")
        if not other.linear.is_surjective():
            raise LayoutError("the other layout does not hold every element")
        return self._computed(plain_of(self.linear.invert_and_compose(other.linear)))

    def product(self, outer: Layout) -> Layout:
        """Returns the direct sum: this layout acts on the low part of every dimension, `outer` on the part above.

        ``a * b`` is the same. Dimensions that only one layout has are of size 1 in the other.

        Raises:
            LayoutError: common dimensions are in another order, or the product is too large.
        """
        self._check_order(outer)
        for which, sizes, others in (("input", self.ins, outer.ins), ("output", self.outs, outer.outs)):
            _check_bits(sum(math.prod(each.values()).bit_length() - 1 for each in (sizes, others)), which)
        found = library.combine("product", plain_of(self.linear), plain_of(outer.linear))
        assert found is not None
        return self._computed(found)

    __mul__ = product

    def divided_left(self, divisor: Layout) -> Layout | None:
        """Returns C with ``self == divisor * C``, with all dimensions of this layout; None if there is none.

        Raises:
            LayoutError: common dimensions are in another order.
        """
        return self._divided("left", divisor)

    def divided_right(self, divisor: Layout) -> Layout | None:
        """Returns C with ``self == C * divisor``, with all dimensions of this layout; None if there is none.

        Raises:
            LayoutError: common dimensions are in another order.
        """
        return self._divided("right", divisor)

    def _divided(self, side: str, divisor: Layout) -> Layout | None:
        self._check_order(divisor)
        if not (set(divisor.ins) <= set(self.ins) and set(divisor.outs) <= set(self.outs)):
            return None
        if any(size > self.ins[n] for n, size in divisor.ins.items()):
            return None
        if any(size > self.outs[n] for n, size in divisor.outs.items()) or not self._fits(side, divisor):
            return None
        found = library.combine(side, plain_of(self.linear), plain_of(divisor.linear))
        return None if found is None else self._computed(found)

    def _fits(self, side: str, divisor: Layout) -> bool:
        """Whether the bases outside of the divisor stay outside of its outputs; Triton asserts that they do."""
        for name, columns in self.bases.items():
            count = len(divisor.bases.get(name, ()))
            outside = columns[count:] if side == "left" else columns[: len(columns) - count]
            for basis in outside:
                for coordinate, (out, size) in zip(basis, self.outs.items(), strict=True):
                    its = divisor.outs.get(out, 1)
                    if coordinate % its if side == "left" else coordinate >= size // its:
                        return False
        return True

    def __eq__(self, other: object) -> bool:
        """Whether both have the same bases, dimensions and padding; the attributes may differ."""
        if not isinstance(other, Layout):
            return NotImplemented
        return plain_of(self.linear) == plain_of(other.linear) and self.padding == other.padding

    def __hash__(self) -> int:
        return hash((repr(plain_of(self.linear)), self.padding))

    def to_text(self) -> str:
        """Returns the attribute, or one that has this layout: ``#ttg.generic_linear`` or ``#ttg.shared_linear``.

        A layout that is neither distributed nor shared has no attribute; its text is Triton's description.
        """
        if self.encoding is not None:
            return self.encoding
        entries = ", ".join(f"{name} = {columns}" for name, columns in self.bases.items())
        if self.kind == "distributed":
            return f"#ttg.generic_linear<{{{entries}}}>"
        if self.kind == "shared" and self.is_bijective():
            return f"#ttg.shared_linear<{{{entries}}}, alignment = 16>"
        return str(self.linear)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Layout({self.to_text()}, shape={self.shape})"

    def _refuse_padding(self) -> None:
        if self.padding:
            raise LayoutError("a padded layout is not linear; only its picture and its bank conflicts are defined")

    def _check_order(self, other: Layout) -> None:
        self._refuse_padding()
        other._refuse_padding()
        for sizes, others in ((self.ins, other.ins), (self.outs, other.outs)):
            if [name for name in sizes if name in others] != [name for name in others if name in sizes]:
                raise LayoutError(
                    f"common dimensions are in another order: {_listed(sizes)} and {_listed(others)}",
                    fix="give both layouts the same order",
                )


def plain_of(linear: Any) -> library.Plain:
    """Returns Triton's layout as plain values."""
    return {
        "in": [[name, [list(basis) for basis in columns]] for name, columns in linear.bases],
        "out": [[name, size] for name, size in linear.out_dims],
    }


def linear_of(plain: library.Plain) -> Any:
    """Returns plain values as Triton's layout."""
    from triton._C.libtriton.linear_layout import LinearLayout

    names = [name for name, _ in plain["out"]]
    sizes = [size for _, size in plain["out"]]
    return LinearLayout.from_bases([tuple(pair) for pair in plain["in"]], names, sizes, False)


def check_sizes(sizes: Mapping[str, int]) -> None:
    """Checks that all `sizes` are powers of two and that a layout can have them.

    Raises:
        LayoutError: they are not.
    """
    for name, size in sizes.items():
        if size < 1 or size & (size - 1):
            raise LayoutError(f"{name} has the size {size}; sizes of a layout are powers of two")
    _check_bits(math.prod(sizes.values()).bit_length() - 1, "output")


def _check_bits(bits: int, which: str) -> None:
    if bits > _MOST_BITS:
        raise LayoutError(f"the {which}s have {bits} bits together; Triton's layouts have at most {_MOST_BITS}")


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({size})" for name, size in names.items()) or "none"
