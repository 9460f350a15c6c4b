# SPDX-License-Identifier: Apache-2.0
"""What a conversion is said to use, against the PTX that Triton makes of it, and its bytes against a count."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
import triton
from triton.backends.compiler import GPUTarget

from triton_ext.layouts import Conversion, Layout, LayoutError, conversion, read
from triton_ext.layouts.conversions import module_text

SHAPE = (32, 32)


def blocked(rng: random.Random) -> str:
    """Returns a blocked layout with 32 lanes and 4 warps."""
    threads, warps = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([1, 2, 4])
    sizes, order = [rng.choice([1, 2, 4]), rng.choice([1, 2, 4])], rng.sample([0, 1], 2)
    lanes, parts = [threads, 32 // threads], [warps, 4 // warps]
    return (
        f"#ttg.blocked<{{sizePerThread = {sizes}, threadsPerWarp = {lanes}, warpsPerCTA = {parts}, order = {order}}}>"
    )


def linear(rng: random.Random, like: Layout | None) -> str:
    """Returns any distributed layout; after `like` one with other registers, or other registers and lanes."""
    columns = [[0, 1 << i] for i in range(5)] + [[1 << i, 0] for i in range(5)]
    rng.shuffle(columns)
    bases = {"register": columns[:3], "lane": columns[3:8], "warp": columns[8:], "block": []}
    if like is not None:
        bases = like.bases
        kept = rng.choice([["lane", "warp"], ["warp"]])
        free = [basis for name, its in bases.items() if name not in kept for basis in its]
        rng.shuffle(free)
        for name in ("register", "lane"):
            if name not in kept:
                count = len(bases[name])
                bases[name], free = free[:count], free[count:]
    return f"#ttg.linear<{{{', '.join(f'{name} = {its}' for name, its in bases.items())}}}>"


def pairs(seed: int, count: int) -> list[tuple[Layout, Layout]]:
    rng = random.Random(seed)
    found = []
    for number in range(count):
        if number % 2:
            source = read(linear(rng, None), SHAPE)
            found.append((source, read(linear(rng, source), SHAPE)))
        else:
            source, target = (read(blocked(rng), SHAPE) for _ in range(2))
            found.append((source, target))
    return found


def in_ptx(source: Layout, target: Layout, directory: Path) -> tuple[str, int]:
    """Returns the mechanism that the PTX of a kernel has, and its bytes of shared memory."""
    text = module_text(source, target, 32, "cuda:90")
    size = "x".join(map(str, SHAPE))
    pointers = [f"tensor<{size}x!tt.ptr<i32>, {layout.to_text()}>" for layout in (source, target)]
    value = f"tensor<{size}xi32, {source.to_text()}>"
    result = f"tensor<{size}xi32, {target.to_text()}>"
    # The addresses of both layouts come from the same pointer: only the values are converted.
    body = [
        f"    %p = tt.splat %a : !tt.ptr<i32> -> {pointers[0]}",
        f"    %v = tt.load %p {{isVolatile = true}} : {pointers[0]}",
        f"    %y = ttg.convert_layout %v : {value} -> {result}",
        f"    %q = tt.splat %b : !tt.ptr<i32> -> {pointers[1]}",
        f"    tt.store %q, %y : {pointers[1]}",
        "    tt.return",
    ]
    head = text.splitlines()[0]
    file = directory / "convert.ttgir"
    signature = "%a: !tt.ptr<i32>, %b: !tt.ptr<i32>"
    file.write_text("\n".join([head, f"  tt.func public @convert({signature}) {{", *body, "  }", "}", ""]))
    kernel = triton.compile(str(file), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    ptx = kernel.asm["ptx"]
    shared = "st.shared" in ptx or "stmatrix" in ptx
    return ("shared memory" if shared else "shuffles" if "shfl" in ptx else "registers"), kernel.metadata.shared


@pytest.mark.slow
def test_the_ptx_has_the_mechanism(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    seen = set()
    for source, target in pairs(0, 40):
        said = conversion(source, target, bits=32)
        mechanism, shared = in_ptx(source, target, tmp_path)
        wanted = "registers" if said.mechanism == "nothing" else said.mechanism
        assert mechanism == wanted, (source, target, said)
        assert (shared > 0) == (said.scratch > 0)
        seen.add(mechanism)
    assert seen == {"registers", "shuffles", "shared memory"}


def nearest(source: Layout, target: Layout) -> list[int]:
    """Returns the bytes of 32-bit elements by distance, by looking at every pair of indices."""
    where: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    needed: set[tuple[int, int, tuple[int, ...]]] = set()
    for layout in (source, target):
        for r, lane, w in itertools.product(*(range(layout.ins[n]) for n in ("register", "lane", "warp"))):
            element = tuple(layout.apply(register=r, lane=lane, warp=w).values())
            if layout is source:
                where.setdefault(element, []).append((lane, w))
            else:
                needed.add((lane, w, element))
    counts = [0, 0, 0]
    for lane, w, element in needed:
        distances = [0 if holder == (lane, w) else 1 if holder[1] == w else 2 for holder in where[element]]
        counts[min(distances)] += 4
    return counts


@pytest.mark.slow
def test_bytes() -> None:
    for source, target in pairs(7, 12):
        said = conversion(source, target, bits=32)
        assert [said.kept, said.between_lanes, said.between_warps] == nearest(source, target)
        assert said.moved == said.between_lanes + said.between_warps
        assert said.between_blocks == 0


def test_the_same_layout_moves_nothing() -> None:
    ((source, _),) = pairs(3, 1)
    said = conversion(source, source, bits=16)
    assert (said.mechanism, said.moved, said.scratch) == ("nothing", 0, 0)
    assert isinstance(said, Conversion)


def test_mistakes() -> None:
    ((source, target),) = pairs(3, 1)
    shared = read("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>", SHAPE)
    with pytest.raises(LayoutError, match="is shared"):
        conversion(source, shared, bits=16)
    with pytest.raises(LayoutError, match="8, 16, 32 or 64 bits"):
        conversion(source, target, bits=1)
    with pytest.raises(LayoutError, match="the shapes"):
        conversion(source, read(target.to_text(), (64, 32)), bits=16)
