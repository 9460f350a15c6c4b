# SPDX-License-Identifier: Apache-2.0
"""The page shows the picture of a layout whose name is clicked; it stays small."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from triton_ext.compilation.records import Compilation
from triton_ext.layouts import show
from triton_ext.tracing import page as page_module
from triton_ext.tracing.pictures import Pictures

MODULE = """#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#odd = #ttg.unheard_of<{}>
module {
  tt.func @f(%x: tensor<8x16xf16, #blocked>, %y: tensor<8x16x!tt.ptr<f32>, #blocked>, %z: tensor<8x16xf32, #blocked>,
    %s: !ttg.memdesc<8x16xf16, #shared, #smem, mutable>, %o: tensor<8xf16, #odd>) {}
}
"""


def test_each_layout_is_drawn_once() -> None:
    pictures = Pictures()
    pictures.add(0, MODULE)
    pictures.add(1, MODULE.replace("#blocked", "#blocked1"))
    assert len(pictures.drawings) == 2
    assert pictures.names[0] == {
        "#blocked": {"8x16xf16": 0, "8x16x!tt.ptr<f32>": 0, "8x16xf32": 0},
        "#shared": {"8x16xf16": 1},
    }
    assert pictures.names[1]["#blocked1"] == pictures.names[0]["#blocked"]
    text = MODULE.splitlines()[0].partition(" = ")[2]
    labels = [cell.label for cell in show(text, (8, 16)).drawing.cells]
    assert [cell[3] for cell in pictures.drawings[0]["cells"]] == labels


@pytest.mark.slow
def test_a_click_shows_the_picture(open_page: Callable[..., Any], matmul: Compilation) -> None:
    page = open_page(matmul, "#ttgir/output")
    name = page.locator("#code .a").filter(has_text="#mma").first
    name.click()
    panel = page.locator("#layout")
    assert "#ttg.nvidia_mma" in panel.inner_text()
    drawn = page.evaluate("[...document.querySelectorAll('#layout svg rect')].length")
    assert drawn == 32 * 32 / 2  # two registers of a thread lie side by side
    if kept := os.environ.get("TRITON_EXT_SCREENSHOTS"):
        page.screenshot(path=Path(kept) / "trace-layout.png")
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    shared = page.locator("#code .a").filter(has_text="#shared").first
    shared.click()
    assert "bank:offset" in panel.inner_text()
    page.locator("#layout button").click()
    assert panel.is_hidden()


@pytest.mark.slow
def test_the_pictures_are_small(matmul: Compilation, monkeypatch: Any) -> None:
    whole = len(page_module.page(matmul))
    monkeypatch.setattr(Pictures, "add", lambda *_: None)
    without = len(page_module.page(matmul))
    assert 0 < whole - without < 40_000
    print(f"{whole:,} bytes, {whole - without:,} of them for pictures")
