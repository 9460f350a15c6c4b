# SPDX-License-Identifier: Apache-2.0
"""`bank_conflicts`: how many wavefronts an access to shared memory takes, by simulation of every instruction.

The rules are NVIDIA's, for compute capability 5.0 and above (CUDA C++ Programming Guide, "Shared Memory" in the section
on compute capabilities 5.x, which those on later ones refer to): there are 32 banks, consecutive 4-byte words lie in
consecutive banks, a bank serves one word in a wavefront, and lanes that want the same word share it. A warp's access of
8 bytes for each lane is made for each half of the warp, and one of 16 bytes for each quarter: 128 bytes at once.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from . import library
from .drawing import BANK_BYTES, BANKS, EMPTY, Cell, Drawing
from .errors import LayoutError
from .holders import images, padded
from .layout import Layout, plain_of
from .picture import Picture

_MOST_BITS = 128  # of one lane's access
_LANES = 32
_CONFLICT, _FINE = 0, 10  # colours: red and green


@dataclass(frozen=True)
class Access:
    """What the loads or the stores of a tile cost, for one block.

    Attributes:
        bits: the bits of an element.
        vector: the elements of one lane's access.
        instructions: the warp-wide instructions, of all warps together.
        wavefronts: the wavefronts that these take.
        minimum: the wavefronts without conflicts: 1, 2 or 4 for an instruction of up to 4, 8 or 16 bytes a lane.
        worst: the byte addresses of the lanes in the instruction with the most wavefronts.
        by_triton: what Gluon's ``bank_conflicts`` says: the excess wavefronts for each one of the minimum, with the
            widest vectors; None for padded layouts and for other vectors. It is too small where a swizzle moves
            elements inside of a word of 32 bits.
    """

    bits: int
    vector: int
    instructions: int
    wavefronts: int
    minimum: int
    worst: tuple[int, ...]
    by_triton: int | None

    @property
    def conflicts(self) -> int:
        """The wavefronts over the minimum."""
        return self.wavefronts - self.minimum

    @property
    def factor(self) -> float:
        """How many times the minimum it takes."""
        return self.wavefronts / self.minimum

    def picture(self) -> Picture:
        """Returns the picture of the worst instruction: wavefronts as rows, banks as columns, words as cells."""
        return Picture(_drawing(self))

    def __str__(self) -> str:
        width = self.bits * self.vector
        return (
            f"{self.instructions} instructions of {width} bits a lane: {self.wavefronts} wavefronts, "
            f"{self.minimum} without conflicts ({self.factor:.2f} times)"
        )


def bank_conflicts(registers: Layout, shared: Layout, *, bits: int, vector: int | None = None) -> Access:
    """Returns what it costs to load or store a tile with ``ld.shared`` or ``st.shared``.

    Registers that hold the same element as another one of the thread are accessed once. Triton may choose ``ldmatrix``
    or ``stmatrix`` instead, whose rows are 16 bytes; these are not counted here. LLVM joins some of Triton's accesses
    into wider ones when it generates code; they are counted as Triton emits them.

    Args:
        registers: the distributed layout of the tile.
        shared: the shared layout of the buffer, on the same shape.
        bits: the bits of an element: 8, 16, 32 or 64.
        vector: the elements of one lane's access, a power of two; by default the most that lie side by side and
            aligned, up to 128 bits, as Triton does. (Over a padding that the vector does not divide, Triton 3.9 makes
            vectors whose addresses are not aligned.)

    Raises:
        LayoutError: the layouts are of other kinds, have different shapes, more than 32 lanes, or the lanes' elements
            do not lie side by side for that vector.
    """
    if registers.kind != "distributed" or shared.kind != "shared":
        raise LayoutError(f"a distributed and a shared layout are needed; these are {registers.kind} and {shared.kind}")
    if bits not in (8, 16, 32, 64):
        raise LayoutError(f"elements have 8, 16, 32 or 64 bits, not {bits}")
    if registers.ins["lane"] != _LANES:
        raise LayoutError(f"the rules are those of warps of {_LANES} lanes; the layout has {registers.ins['lane']}")
    offsets = registers.in_terms_of(Layout(shared.linear, "shared"))
    _refuse_other_blocks(offsets)
    bases = {name: [basis[0] for basis in columns] for name, columns in offsets.bases.items()}
    bases["register"] = [offset for offset in bases["register"] if offset]
    bases.pop("block", None)
    widest = _widest(bases, shared, bits)
    size = widest if vector is None else vector
    if size < 1 or size & (size - 1) or size > widest:
        raise LayoutError(f"a vector of {size} elements is not possible; the widest has {widest}")
    counted, worst = [], ((), 0)  # type: tuple[list[int], tuple[tuple[int, ...], int]]
    for addresses in _instructions(bases, shared, bits, size):
        counted.append(wavefronts(addresses, bits * size // 8))
        if counted[-1] > worst[1]:
            worst = addresses, counted[-1]
    by_triton = None
    if size == widest and not shared.padding:
        by_triton = library.bank_conflicts(plain_of(registers.linear), plain_of(shared.linear), bits)
    minimum = len(counted) * parts(bits * size // 8)
    return Access(bits, size, len(counted), sum(counted), minimum, worst[0], by_triton)


def parts(width: int) -> int:
    """Returns into how many parts a warp's access of `width` bytes a lane is divided: 128 bytes are served at once."""
    return max(1, width * _LANES // (BANKS * BANK_BYTES))


def wavefronts(addresses: Sequence[int], width: int) -> int:
    """Returns the wavefronts of one instruction.

    Args:
        addresses: the byte address of each lane, a multiple of `width`.
        width: the bytes of one lane's access: 1, 2, 4, 8 or 16.
    """
    return sum(max(map(len, _words(part, width).values())) for part in _parts(addresses, width))


def _parts(addresses: Sequence[int], width: int) -> Iterator[Sequence[int]]:
    lanes = len(addresses) // parts(width)
    for start in range(0, len(addresses), lanes):
        yield addresses[start : start + lanes]


def _words(addresses: Sequence[int], width: int) -> dict[int, set[int]]:
    """Returns the words that lanes want, by bank."""
    found: dict[int, set[int]] = defaultdict(set)
    for address in addresses:
        for word in range(address // BANK_BYTES, (address + width - 1) // BANK_BYTES + 1):
            found[word % BANKS].add(word)
    return found


def _refuse_other_blocks(offsets: Layout) -> None:
    if "block" not in offsets.outs:
        return
    position = list(offsets.outs).index("block")
    for name, columns in offsets.bases.items():
        if name != "block" and any(basis[position] for basis in columns):
            raise LayoutError("the tile lies in the shared memory of several blocks, whose access has other rules")


def _widest(bases: dict[str, list[int]], shared: Layout, bits: int) -> int:
    """Returns the most elements that a lane can access at once; see ``largestVectorisation`` in ``LayoutUtils.h``."""
    size = 1
    every = [offset for columns in bases.values() for offset in columns]
    steps = [number for pair in shared.padding for number in pair]
    while size * 2 * bits <= _MOST_BITS and size in bases["register"]:
        inside = {1 << k for k in range(size.bit_length())}
        others = list(every)
        for step in inside:
            if step in others:
                others.remove(step)
        if any(offset % (2 * size) for offset in [*others, *steps]):
            break
        size *= 2
    return size


def _instructions(bases: dict[str, list[int]], shared: Layout, bits: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yields the byte addresses of the lanes of each instruction."""
    inside = [1 << k for k in range(size.bit_length() - 1)]
    registers = list(bases["register"])
    for step in inside:
        registers.remove(step)
    rest = [offset for name, columns in bases.items() if name not in ("register", "lane") for offset in columns]
    lanes = _spanned(bases["lane"])
    for start in _spanned([*registers, *rest]):
        yield tuple(padded(start ^ lane, shared.padding) * bits // 8 for lane in lanes)


def _spanned(bases: Sequence[int]) -> list[int]:
    return images(
        Layout.from_bases({"i": [[basis] for basis in bases]}, (1 << max(map(int.bit_length, bases), default=0),))
    )


def _drawing(access: Access) -> Drawing:
    width = access.bits * access.vector // 8
    cells: list[Cell] = []
    rows = 0
    for number, part in enumerate(_parts(access.worst, width)):
        banks = _words(part, width)
        depth = max(map(len, banks.values()))
        for row, bank in itertools.product(range(depth), range(BANKS)):
            words = sorted(banks.get(bank, ()))
            if row >= len(words):
                title = f"wavefront {rows + row}: bank {bank} serves nobody"
                cells.append(Cell(rows + row, bank, 1, "", EMPTY, False, title))
                continue
            start = words[row] * BANK_BYTES
            lanes = [number * len(part) + i for i, a in enumerate(part) if start < a + width and a < start + BANK_BYTES]
            label = f"{lanes[0]}" if len(lanes) == 1 else f"{lanes[0]}+{len(lanes) - 1}"
            title = f"wavefront {rows + row}, bank {bank}: bytes {start} to {start + BANK_BYTES - 1} for lanes "
            cells.append(
                Cell(rows + row, bank, 1, label, _FINE if row == 0 else _CONFLICT, row > 0, title + _listed(lanes))
            )
        rows += depth
    note = (
        f"The worst instruction, {access.bits * access.vector} bits a lane: a row is a wavefront, a column is a bank, "
        "and the number in a cell is the lane whose word the bank serves, +n for n more lanes with the same word."
    )
    legend = ((_CONFLICT, "a conflict"), (_FINE, "the first word of the bank"))
    there = {cell.colour for cell in cells}
    names = tuple(map(str, range(rows)))
    return Drawing(str(access), note, names, BANKS, tuple(cells), tuple(e for e in legend if e[0] in there))


def _listed(lanes: Sequence[int]) -> str:
    return ", ".join(map(str, lanes))
