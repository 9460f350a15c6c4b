# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts against a simulator that serves bytes clock by clock, and against Triton's own count."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.layouts import bank_simulator
from triton_ext.layouts import Access, Layout, LayoutError, bank_conflicts, read
from triton_ext.layouts.banks import wavefronts

ELEMENTS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 0), (4, 0), (8, 0), (16, 0)]
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


def counted(registers: Layout, shared: Layout, access: Access) -> int:
    """Returns the simulator's count."""
    memory = {}
    for offset in range(shared.ins["offset"]):
        place = offset + sum(offset // interval * pad for interval, pad in shared.padding)
        memory[tuple(shared.apply(offset=offset).values())] = place
    sizes = (registers.ins[name] for name in ("register", "lane", "warp"))
    held = {
        (r, lane, w): tuple(registers.apply(register=r, lane=lane, warp=w).values())
        for r, lane, w in itertools.product(*map(range, sizes))
    }
    return bank_simulator.access(held, memory, access.bits, access.vector)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.permutations(ELEMENTS),
    st.sampled_from([(1, 1, 1), (2, 1, 4), (4, 2, 4), (8, 1, 8), (1, 4, 16)]),
    st.sampled_from([8, 16, 32, 64]),
    st.sampled_from([None, (32, 2), (64, 8), (128, 4)]),
)
@example(ELEMENTS, (1, 4, 16), 8, None)
def test_the_count_is_that_of_the_simulator(
    columns: list[tuple[int, int]], swizzle: tuple[int, int, int], bits: int, padding: tuple[int, int] | None
) -> None:
    bases = {"register": columns[:4], "lane": columns[4:9], "warp": columns[9:], "block": []}
    registers = Layout.from_bases(bases, (32, 32))
    text = "#ttg.swizzled_shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = [1, 0]}}>".format(*swizzle)
    if padding:
        text = "#ttg.padded_shared<[{}:+{}] {{order = [1, 0], shape = [32, 32]}}>".format(*padding)
    shared = read(text, (32, 32))
    access = bank_conflicts(registers, shared, bits=bits)
    assert access.wavefronts == counted(registers, shared, access)
    vec, _, phases = swizzle
    # Triton's count is too small where the swizzle moves elements inside of a word of a bank.
    if padding is None and (phases == 1 or vec * bits >= 32):
        assert access.conflicts == access.minimum * (access.by_triton or 0)
    if access.vector > 1:
        narrow = bank_conflicts(registers, shared, bits=bits, vector=1)
        assert narrow.wavefronts == counted(registers, shared, narrow)
        assert narrow.by_triton is None


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(0, 255), min_size=32, max_size=32), st.sampled_from([1, 2, 4, 8, 16]))
def test_one_instruction(places: list[int], width: int) -> None:
    """Any addresses, not those of a layout alone."""
    addresses = [place * width for place in places]
    assert wavefronts(addresses, width) == bank_simulator.clocks(addresses, width)


@pytest.mark.parametrize(
    ("addresses", "width", "expected"),
    [
        ([4 * lane for lane in range(32)], 4, 1),
        ([128 * lane for lane in range(32)], 4, 32),
        ([0] * 32, 4, 1),  # a broadcast
        ([8 * lane for lane in range(32)], 4, 2),
        ([132 * lane for lane in range(32)], 4, 1),
        ([16 * lane for lane in range(32)], 16, 4),
        ([128 * lane for lane in range(32)], 16, 32),
    ],
)
def test_known_patterns(addresses: list[int], width: int, expected: int) -> None:
    assert wavefronts(addresses, width) == expected == bank_simulator.clocks(addresses, width)


def test_a_transposition_and_its_padding() -> None:
    column = Layout.from_bases({"register": [], "lane": ELEMENTS[5:], "warp": ELEMENTS[:5], "block": []}, (32, 32))
    access = bank_conflicts(column, read(PLAIN, (32, 32)), bits=32)
    assert (access.factor, access.instructions, access.vector) == (32, 32, 1)
    drawing = access.picture().drawing
    assert len(drawing.rows) == 32
    assert {cell.label for cell in drawing.cells} == {"", *map(str, range(32))}
    padded = read("#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [32, 32]}>", (32, 32))
    assert bank_conflicts(column, padded, bits=32).conflicts == 0


def mistakes() -> list[tuple[Any, str]]:
    blocked = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, %d], warpsPerCTA = [4, 1], order = [1, 0]}>"
    plain, rows = read(PLAIN, (32, 32)), read(blocked % 32, (32, 32))
    return [
        (lambda: bank_conflicts(plain, plain, bits=16), "are needed; these are shared and shared"),
        (lambda: bank_conflicts(rows, plain, bits=12), "8, 16, 32 or 64 bits"),
        (lambda: bank_conflicts(rows, plain, bits=16, vector=2), "the widest has 1"),
        (lambda: bank_conflicts(rows, read(PLAIN, (64, 32)), bits=16), "shapes"),
        (lambda: bank_conflicts(read(blocked % 64, (32, 64)), read(PLAIN, (32, 64)), bits=16), "warps of 32 lanes"),
    ]


@pytest.mark.parametrize("number", range(5))
def test_mistakes(number: int) -> None:
    call, message = mistakes()[number]
    with pytest.raises(LayoutError, match=message):
        call()
