# SPDX-License-Identifier: Apache-2.0
"""``triton-ext layout``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from ..layouts import LayoutError, Picture, bank_conflicts, conversion, read, show
from ..layouts.layout import Layout


class _Shape(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.4
    """Sizes such as ``64x32``."""

    name = "shape"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        text = str(value)
        if not re.fullmatch(r"\d+(x\d+)*", text):
            self.fail(f"{text!r} is not a shape such as 64x32", param, ctx)
        return tuple(map(int, text.split("x")))


@click.command("layout")
@click.argument("text", metavar="ATTRIBUTE")
@click.option("--shape", type=_Shape(), required=True, help="The shape in elements, e.g. 64x32.")
@click.option("--bits", type=int, help="The bits of an element; default: what the attribute says, or 16.")
@click.option("--module", type=click.Path(exists=True, dir_okay=False), help="A file with TTGIR that defines names.")
@click.option("--conflicts", "buffer", metavar="SHARED", help="Count the bank conflicts of an access to this layout.")
@click.option("--to", "target", metavar="LAYOUT", help="Say how Triton converts to this layout.")
@click.option("--gpu", default="cuda:90", show_default=True, help="The target of the conversion.")
@click.option(
    "--window", type=_Shape(), default="32x32", show_default=True, help="How many rows and columns to draw at most."
)
@click.option("--svg", type=click.Path(dir_okay=False), help="Write the picture as SVG.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write the picture as an HTML page.")
@click.option("--json", "as_json", is_flag=True, help="Print the bases as JSON for programs.")
def layout(
    *,
    text: str,
    shape: tuple[int, ...],
    bits: int | None,
    module: str | None,
    buffer: str | None,
    target: str | None,
    gpu: str,
    window: tuple[int, ...],
    svg: str | None,
    html: str | None,
    as_json: bool,
) -> None:
    """Draw who holds which element: registers, lanes, warps and blocks, or offsets and banks of shared memory.

    \b
    triton-ext layout '#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2],
        instrShape = [16, 8]}>' --shape 32x32 --svg mma.svg
    """  # noqa: D301 - click reads a backspace
    try:
        defined = Path(module).read_text(encoding="utf-8") if module else None
    except (OSError, UnicodeDecodeError) as error:
        raise LayoutError(f"{module} cannot be read as text: {error}") from error
    if len(window) != 2:
        raise LayoutError(f"a window has rows and columns, such as 32x64, not {len(window)} sizes")
    drawn = read(text, shape, module=defined)
    if as_json:
        click.echo(json.dumps(_facts(drawn), indent=2))
        return
    said: list[str] = []
    if buffer is not None:
        access = bank_conflicts(drawn, read(buffer, shape, module=defined), bits=bits or 16)
        picture = access.picture()
        if svg or html:
            said.append(str(access))
    else:
        picture = show(drawn, bits=bits, window=(window[0], window[1]))
    if target is not None:
        said.append(f"conversion: {conversion(drawn, read(target, shape, module=defined), bits=bits or 16, gpu=gpu)}")
    _print(picture, said, [file for file in (svg, html) if file])


def _facts(drawn: Layout) -> dict[str, object]:
    return {
        "attribute": drawn.encoding,
        "kind": drawn.kind,
        "shape": drawn.shape,
        "bases": drawn.bases,
        "padding": drawn.padding,
    }


def _print(picture: Picture, said: list[str], files: list[str]) -> None:
    from rich.console import Console

    if not files:
        console = Console()
        if console.is_terminal:
            console.print(picture)
        else:
            click.echo(picture.text(), nl=False)
    for line in said:
        click.echo(line)
    for file in files:
        picture.write(file)
        click.echo(f"wrote {file}")
