# SPDX-License-Identifier: Apache-2.0
"""`conversion`: how Triton moves a tensor from one distributed layout to another, and how many bytes that are."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass

from . import library
from .errors import LayoutError
from .holders import images
from .layout import Layout, plain_of

_INDICES = ("register", "lane", "warp", "block")


@dataclass(frozen=True)
class Conversion:
    """How a tensor gets from one layout to another.

    The bytes are those of the elements that each thread needs, by the nearest place that has them; every element counts
    once for each thread.

    Attributes:
        mechanism: ``nothing``, ``registers`` (each thread has what it needs), ``shuffles`` (between the lanes of a
            warp) or ``shared memory``, as Triton decides.
        kept: bytes that their threads have already.
        between_lanes: bytes that another lane of the warp has.
        between_warps: bytes that another warp of the block has.
        between_blocks: bytes that only another block has.
        scratch: bytes of shared memory that the conversion needs in each block, without hardware instructions for
            matrices; 0 unless it goes through shared memory.
    """

    mechanism: str
    kept: int
    between_lanes: int
    between_warps: int
    between_blocks: int
    scratch: int

    @property
    def moved(self) -> int:
        """The bytes that change the thread."""
        return self.between_lanes + self.between_warps + self.between_blocks

    def __str__(self) -> str:
        parts = {"lanes": self.between_lanes, "warps": self.between_warps, "blocks": self.between_blocks}
        between = ", ".join(f"{size:,} between {name}" for name, size in parts.items() if size)
        text = f"{self.mechanism}: {self.moved:,} bytes move" + (f" ({between})" if between else "")
        return text + f", {self.kept:,} stay" + (f"; {self.scratch:,} bytes of shared memory" if self.scratch else "")


def conversion(source: Layout, target: Layout, *, bits: int, gpu: str = "cuda:90") -> Conversion:
    """Returns how ``ttg.convert_layout`` gets a tensor from `source` to `target`.

    The mechanism is what Triton's lowering decides (``cvtReordersRegisters``, ``cvtNeedsWarpShuffle`` and
    ``cvtNeedsSharedMemory`` in ``triton/Analysis/Utility.h``); the bytes are counted element by element.

    Args:
        source: the distributed layout of the tensor.
        target: the distributed layout to get, on the same shape, with as many lanes, warps and blocks.
        bits: the bits of an element: 8, 16, 32 or 64.
        gpu: the target as the module names it, e.g. ``cuda:90`` or ``hip:gfx942``.

    Raises:
        LayoutError: the layouts do not fit each other, or do not fit into a module.
    """
    for layout in (source, target):
        if layout.kind != "distributed" or tuple(layout.ins) != _INDICES:
            raise LayoutError(f"conversions are between distributed layouts; {layout} is {layout.kind}")
    if source.shape != target.shape:
        raise LayoutError(f"the layouts have the shapes {source.shape} and {target.shape}")
    if bits not in (8, 16, 32, 64):
        raise LayoutError(f"elements have 8, 16, 32 or 64 bits, not {bits}")
    for name in _INDICES[1:]:
        if source.ins[name] != target.ins[name]:
            raise LayoutError(f"the layouts have {source.ins[name]} and {target.ins[name]} of {name}")
    found = library.conversion(module_text(source, target, bits, gpu))
    if plain_of(source.linear) == plain_of(target.linear):
        mechanism = "nothing"
    elif found["shared"]:
        mechanism = "shared memory"
    else:
        mechanism = "shuffles" if found["shuffles"] else "registers"
    kept, lanes, warps, blocks = (count * bits // 8 for count in _distances(source, target))
    return Conversion(mechanism, kept, lanes, warps, blocks, found["scratch"] * bits // 8)


def module_text(source: Layout, target: Layout, bits: int, gpu: str) -> str:
    """Returns a TTGIR module with one function, which converts its argument from `source` to `target`."""
    size = "x".join(map(str, source.shape))
    before, after = (f"tensor<{size}xi{bits}, {layout.to_text()}>" for layout in (source, target))
    attributes = {
        "num-ctas": source.ins["block"],
        "num-warps": source.ins["warp"],
        "threads-per-warp": source.ins["lane"],
    }
    entries = ", ".join(f'"ttg.{name}" = {value} : i32' for name, value in attributes.items())
    return (
        f"module attributes {{{entries}, ttg.target = {json.dumps(gpu)}}} {{\n"
        f"  tt.func public @convert(%x: {before}) -> {after} {{\n"
        f"    %y = ttg.convert_layout %x : {before} -> {after}\n"
        f"    tt.return %y : {after}\n"
        "  }\n}\n"
    )


def _distances(source: Layout, target: Layout) -> tuple[int, int, int, int]:
    """Returns how many elements threads of `target` find in the thread, in its warp, in its block, and elsewhere."""
    threads_of = _by_element(source)
    counts = [0, 0, 0, 0]
    lanes, warps = target.ins["lane"], target.ins["warp"]
    for element, threads in _by_element(target).items():
        had = threads_of.get(element, set())
        in_warps = {thread // lanes for thread in had}
        in_blocks = {warp // warps for warp in in_warps}
        for thread in threads:
            near = (thread in had, thread // lanes in in_warps, thread // lanes // warps in in_blocks, True)
            counts[near.index(True)] += 1
    return counts[0], counts[1], counts[2], counts[3]


def _by_element(layout: Layout) -> dict[int, set[int]]:
    """Returns the threads that hold each element; a thread is a number of which its lane varies fastest."""
    registers = layout.ins["register"]
    found: dict[int, set[int]] = defaultdict(set)
    for number, element in enumerate(images(layout)):
        found[element].add(number // registers)
    return found
