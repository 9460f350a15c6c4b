# SPDX-License-Identifier: Apache-2.0
"""Text without locations, and for each line the places in Python that it comes from.

The modules `mlir_locations`, `llvm_locations` and `assembly_locations` make it. A line that they do not understand
stays as it is and gets no place. No text makes them fail.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The longest chain that is kept. An MLIR location may stand in two others, so 20 lines of IR can describe a million
#: frames; in LLVM IR the nodes may form a circle.
MOST_FRAMES = 100


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a source file.

    Attributes:
        file: its path, as the compiler wrote it.
        line: from 1.
        column: from 1; 0 if unknown.
    """

    file: str
    line: int
    column: int = 0


#: The places that a line comes from: the place itself, then the call that it was inlined into, and so on.
Chain = tuple[Frame, ...]


@dataclass(frozen=True)
class Located:
    """Text without locations, and the locations of its lines.

    Attributes:
        lines: the lines, without locations.
        chains: for each line, the places that it comes from; empty if they are unknown.
    """

    lines: tuple[str, ...]
    chains: tuple[Chain, ...]

    @property
    def text(self) -> str:
        """The lines as a text that ends with a line break."""
        return "".join(f"{line}\n" for line in self.lines)


def lines_of(text: str) -> list[str]:
    """Returns the lines of `text` as compilers count them: unlike in ``str.splitlines``, a form feed ends no line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


def plain(text: str) -> Located:
    """Returns the lines of a language that has no locations."""
    lines = tuple(lines_of(text))
    return Located(lines, ((),) * len(lines))
