# SPDX-License-Identifier: Apache-2.0
"""The knobs of layouts: how threads hold the tensors of loads, stores and atomic accesses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from triton_ext.pipeline.records import StageRecord
from triton_ext.searching.knobs import Knob

#: By kind of operation, what MLIR calls it.
_KINDS = {"load": r"tt\.load", "store": r"tt\.store", "atomic": r"tt\.atomic_(?:rmw|cas)"}
_POINTERS = r" %[^\n]* : (?:\([^\n]*?)?tensor<((?:\d+x)+)!tt\.ptr<[a-z]+(\d+)"
#: The layout is given behind this pass, which does the same with the layout that Triton chooses.
_ANCHOR = "ttgpuir.coalesce"
#: The most bytes that a thread moves at once.
_BYTES = 16


def knobs(stages: Sequence[StageRecord], backend: str) -> Iterator[Knob]:  # noqa: ARG001 - as for all passes
    """Yields a knob for each kind of access in the kernel, whose tensors the recorded IR shows."""
    for stage in stages:
        text, anchor = stage.source or "", None
        for record in stage.passes:
            text = record.ir or text
            if record.name == _ANCHOR and record.ran:
                anchor = f"{record.name}#{record.ordinal}"
                break
        if stage.name == "ttgir" and anchor is not None:
            for kind, name in _KINDS.items():
                yield from _knob(kind, re.findall(name + _POINTERS, text), anchor)


def _knob(kind: str, found: list[tuple[str, str]], anchor: str) -> Iterator[Knob]:
    """Yields the knob for one kind.

    Args:
        kind: the kind.
        found: shape, such as ``64x32x``, and bits of an element of each tensor.
        anchor: the pass behind which the layout is given.
    """
    rank = max((shape.count("x") for shape, _ in found), default=0)
    most = max((8 * _BYTES // int(bits) for _, bits in found), default=0)
    ways = [(vector, dim) for dim in range(rank) for vector in (1, 2, 4, 8, 16) if vector <= most]
    if not ways:
        return
    edit = "ttgir: after({}, assign_layout{{kind={} vector={} dimension={} optional=true}})"
    yield Knob(
        f"layout of {kind}",
        "layout",
        "choice",
        ("Triton's", *(f"{vector} along {dim}" for vector, dim in ways)),
        "Triton's",
        f"how many elements of a {kind} a thread holds side by side, and along which dimension threads go on",
        "rounding",  # other threads may add up other elements
        place=f"ttgir:{anchor}",
        texts=("", *(edit.format(anchor, kind, vector, dim) for vector, dim in ways)),
    )
