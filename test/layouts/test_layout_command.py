# SPDX-License-Identifier: Apache-2.0
"""``triton-ext layout``, the pictures that it writes, and those of the documentation."""

from __future__ import annotations

import io
import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from support import ROOT
from triton_ext.cli.layout import layout
from triton_ext.layouts import LayoutError, read, show

MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
PAGE = (ROOT / "docs" / "layouts.md").read_text()
PICTURES = re.findall(r"^\.venv/bin/triton-ext layout (.*) --svg (docs/images/\S+)$", PAGE, re.MULTILINE)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(layout, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(("arguments", "picture"), PICTURES, ids=[Path(p).stem for _, p in PICTURES])
def test_the_pictures_of_the_page_are_those_of_its_commands(arguments: str, picture: str, tmp_path: Path) -> None:
    assert len(PICTURES) == 2
    made = tmp_path / "made.svg"
    run(*shlex.split(arguments), "--svg", str(made))
    assert made.read_text() == (ROOT / picture).read_text(), "run the commands of docs/layouts.md"


def test_text() -> None:
    lines = run(MMA, "--shape", "32x32", "--window", "16x8").splitlines()
    assert lines[0] == f"{MMA} on 32x32"
    assert lines[3].split() == ["0", "0:0-1", "1:0-1", "2:0-1", "3:0-1"]
    assert lines[3 + 8].split() == ["8", "0:2-3", "1:2-3", "2:2-3", "3:2-3"]


def test_json() -> None:
    facts = json.loads(run(MMA, "--shape", "32x32", "--json"))
    assert facts["bases"] == read(MMA, (32, 32)).bases
    assert facts["shape"] == [32, 32]


def test_names_of_a_module(tmp_path: Path) -> None:
    file = tmp_path / "kernel.ttgir"
    file.write_text(f"#mma = {MMA}\n#part = #ttg.slice<{{dim = 1, parent = #mma}}>\nmodule {{}}\n")
    assert "#ttg.slice<{dim = 1, parent = #ttg.nvidia_mma" in run("#part", "--shape", "32", "--module", str(file))
    with pytest.raises(LayoutError, match="#mmb is not defined; did you mean #mma\\? \\(defined: #mma, #part\\)"):
        run("#mmb", "--shape", "32x32", "--module", str(file))


def test_svg_and_html(tmp_path: Path) -> None:
    picture = show(MMA, (32, 32))
    root = ET.fromstring(picture.svg)
    cells = root.findall(".//{*}g/{*}g")
    assert len(cells) == 32 * 16
    first = "".join(cells[0].find("{*}title").itertext())  # type: ignore[union-attr]
    assert first == "(0, 0): warp 0, lane 0, register 0\n(0, 1): warp 0, lane 0, register 1"
    for name in ("a.svg", "b/a.html"):
        picture.write(tmp_path / name)
        assert (tmp_path / name).read_text() in (picture.svg, picture.html)
    with pytest.raises(LayoutError, match="ends neither in"):
        picture.write(tmp_path / "a.png")


def test_a_terminal_has_as_many_columns_as_fit() -> None:
    for width in (60, 200):
        console = Console(width=width, force_terminal=True, color_system="truecolor", record=True, file=io.StringIO())
        console.print(show(MMA, (32, 32)))
        text = console.export_text()
        assert max(map(len, text.splitlines())) <= width
        assert "\n31 " in text


@pytest.mark.parametrize("shape", ["32", "32x31", "32x32x32"])
def test_shapes_that_do_not_fit(shape: str) -> None:
    with pytest.raises(LayoutError, match=r"dimensions and the shape|sizes of a layout are powers of two"):
        run(MMA, "--shape", shape)


def test_an_assertion_of_triton_is_an_error() -> None:
    with pytest.raises(LayoutError, match="an assertion failed"):
        read("#ttng.tensor_memory_encoding<blockM = 64, blockN = 1, colStride = 4>", (1, 2))
    assert read(MMA, (32, 32)).is_bijective()  # and the process goes on


def test_a_fatal_error_of_triton_is_an_error() -> None:
    with pytest.raises(LayoutError, match="Triton says: Layout is expected to be surjective"):
        read("#ttg.linear<{register = [[0, 3]], lane = [[1, 0]], warp = [], block = []}>", (2, 2))
    assert read(MMA, (32, 32)).is_bijective()


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false}>",
            (64, 64),
        ),
        (f"#ttg.dot_op<{{opIdx = 0, parent = {MMA}, kWidth = 2}}>", (32, 32)),
        ("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>", (64, 64)),
        ("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>", (128, 64)),
        ("#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>", (32, 32)),
    ],
)
def test_every_kind_is_drawn(text: str, shape: tuple[int, int]) -> None:
    drawing = show(text, shape, window=(64, 64)).drawing
    covered = [(cell.row, cell.column + i) for cell in drawing.cells for i in range(cell.width)]
    assert sorted(covered) == [(i, j) for i in range(min(shape[0], 64)) for j in range(min(shape[1], 64))]
    assert all(cell.label for cell in drawing.cells)
