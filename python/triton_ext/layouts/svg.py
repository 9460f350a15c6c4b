# SPDX-License-Identifier: Apache-2.0
"""A `Drawing` as SVG and as an HTML page, neither of which needs another file."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from html import escape

from .drawing import COLOURS, EMPTY, Cell, Drawing

_CELL_WIDTH = 34  # pixels for one element; labels such as 31:12-15 need two
_CELL_HEIGHT = 18
_LEFT = 44  # for the names of rows
_LINE = 16
_FONT = "11px ui-monospace, monospace"
_MOST_WIDTH = 110  # characters of a line of the note


def colour_of(colour: int, strong: bool) -> tuple[int, int, int]:
    """Returns red, green and blue from 0 to 255 of a cell; black text can be read on all of them."""
    if colour == EMPTY:
        return 235, 235, 235
    # Neighbouring numbers get hues that are far apart: 7 is coprime to 16.
    hue = colour * 7 % COLOURS / COLOURS
    red, green, blue = colorsys.hls_to_rgb(hue, 0.70 if strong else 0.82, 0.75)
    return round(red * 255), round(green * 255), round(blue * 255)


def svg(drawing: Drawing) -> str:
    """Returns the drawing as the text of an SVG file; titles of cells say what the mouse points at."""
    cell = max([_CELL_WIDTH, *(round((len(c.label) * 6.7 + 6) / c.width) for c in drawing.cells)])
    notes = [*_wrapped(drawing.title), *_wrapped(drawing.note)]
    top = len(notes) * _LINE + 26
    legend = list(_legend(drawing, top + len(drawing.rows) * _CELL_HEIGHT + 22, cell))
    height = top + len(drawing.rows) * _CELL_HEIGHT + 14 + _LINE * (1 + _legend_rows(drawing, cell)) * bool(legend)
    width = max(_LEFT + drawing.columns * cell + 8, _MOST_WIDTH * 7)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'style="font: {_FONT}" role="img">',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, text in enumerate(notes):
        weight = ' font-weight="bold"' if number < len(_wrapped(drawing.title)) else ""
        lines.append(f'<text x="8" y="{16 + number * _LINE}"{weight}>{escape(text)}</text>')
    lines.append('<g text-anchor="middle" fill="#555">')
    lines += (
        f'<text x="{_LEFT + column * cell + cell / 2:g}" y="{top - 5}">{column}</text>'
        for column in range(drawing.columns)
    )
    lines.append('</g>\n<g text-anchor="end" fill="#555">')
    lines += (
        f'<text x="{_LEFT - 5}" y="{top + row * _CELL_HEIGHT + 13}">{escape(name)}</text>'
        for row, name in enumerate(drawing.rows)
    )
    lines.append('</g>\n<g text-anchor="middle" stroke-width="0.5">')
    lines += (_cell(each, cell, top) for each in drawing.cells)
    lines.append("</g>")
    lines += legend
    return "\n".join([*lines, "</svg>", ""])


def html(drawing: Drawing) -> str:
    """Returns a page with the drawing, which needs no other file."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(drawing.title)}</title>\n</head>\n<body>\n{svg(drawing)}</body>\n</html>\n"
    )


def _cell(cell: Cell, width: int, top: int) -> str:
    x, y, wide = _LEFT + cell.column * width, top + cell.row * _CELL_HEIGHT, cell.width * width
    red, green, blue = colour_of(cell.colour, cell.strong)
    text = f'<text x="{x + wide / 2:g}" y="{y + 13}">{escape(cell.label)}</text>' if cell.label else ""
    return (
        f'<g><title>{escape(cell.title)}</title><rect x="{x}" y="{y}" width="{wide}" height="{_CELL_HEIGHT}" '
        f'fill="#{red:02x}{green:02x}{blue:02x}" stroke="#666"/>{text}</g>'
    )


def _legend_columns(drawing: Drawing, cell: int) -> int:
    return max(1, max(drawing.columns * cell, _MOST_WIDTH * 7 - _LEFT) // 130)


def _legend_rows(drawing: Drawing, cell: int) -> int:
    return -(-len(drawing.legend) // _legend_columns(drawing, cell))


def _legend(drawing: Drawing, top: int, cell: int) -> Iterator[str]:
    for number, (colour, name) in enumerate(drawing.legend):
        row, column = divmod(number, _legend_columns(drawing, cell))
        red, green, blue = colour_of(colour, False)
        x, y = _LEFT + column * 130, top + row * _LINE
        yield (
            f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="#{red:02x}{green:02x}{blue:02x}" stroke="#666"/>'
            f'<text x="{x + 17}" y="{y}">{escape(name)}</text>'
        )


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, _MOST_WIDTH, break_long_words=True) or [""]
