# SPDX-License-Identifier: Apache-2.0
"""`Picture`: a drawing for a terminal, a notebook, or a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..support.storage import write_whole
from .drawing import Cell, Drawing, cropped
from .errors import LayoutError
from .svg import colour_of, html, svg

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text


@dataclass(frozen=True)
class Picture:
    """A drawing that rich, notebooks and ``print`` show, and that `write` makes a file of.

    Attributes:
        drawing: the grid of cells.
    """

    drawing: Drawing

    @property
    def svg(self) -> str:
        """The text of an SVG file."""
        return svg(self.drawing)

    @property
    def html(self) -> str:
        """The text of an HTML page."""
        return html(self.drawing)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes an SVG file or an HTML page, by the ending of the name; its directory is made if needed.

        Raises:
            LayoutError: the name ends in neither ``.svg`` nor ``.html``, or the file cannot be written.
        """
        file = Path(path)
        forms = {".svg": svg, ".html": html}
        if file.suffix not in forms:
            raise LayoutError(f"{file} ends neither in .svg nor in .html", fix=f"name it {file.stem}.svg")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, forms[file.suffix](self.drawing).encode())
        except OSError as error:
            raise LayoutError(f"{file}: {error.strerror or error}") from error

    def text(self, columns: int | None = None) -> str:
        """Returns the drawing without colours, with at most that many columns of elements."""
        drawing = self.drawing if columns is None else cropped(self.drawing, columns)
        return "\n".join(line.plain.rstrip() for line in _lines(drawing)) + "\n"

    def __str__(self) -> str:
        return self.text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields the lines in colour, with as many columns as fit."""
        drawing = self.drawing
        fitting = max(1, (options.max_width - _margin(drawing)) // (_element_width(drawing) + 1))
        yield from _lines(cropped(drawing, fitting))

    def _repr_html_(self) -> str:
        return self.svg


def _lines(drawing: Drawing) -> list[Text]:
    from rich.text import Text

    margin, width = _margin(drawing), _element_width(drawing)
    lines = [Text(drawing.title, style="bold"), Text(drawing.note)]
    heads = "".join(f" {column!s:^{width}}" for column in range(drawing.columns))
    lines.append(Text(" " * margin + heads, style="dim"))
    rows: list[Text] = []
    for name in drawing.rows:
        rows.append(Text(f"{name:>{margin - 1}} ", style="dim"))
    for cell in drawing.cells:
        rows[cell.row].append(" ")
        rows[cell.row].append(f"{cell.label:^{cell.width * (width + 1) - 1}}", style=_style(cell))
    legend = Text(" " * margin)
    for colour, name in drawing.legend:
        legend.append(f" {name} ", style=_background(colour, False))
        legend.append(" ")
    return [*lines, *rows, *([legend] if drawing.legend else [])]


def _style(cell: Cell) -> str:
    return _background(cell.colour, cell.strong)


def _background(colour: int, strong: bool) -> str:
    red, green, blue = colour_of(colour, strong)
    return f"not dim #000000 on #{red:02x}{green:02x}{blue:02x}"


def _margin(drawing: Drawing) -> int:
    return max(map(len, drawing.rows), default=0) + 1


def _element_width(drawing: Drawing) -> int:
    # A cell of w elements has w times this width, and the w - 1 spaces between them.
    needed = [-(-(len(cell.label) + 1) // cell.width) - 1 for cell in drawing.cells]
    return max([len(str(max(drawing.columns - 1, 0))), *needed])
