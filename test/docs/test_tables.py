# SPDX-License-Identifier: Apache-2.0
"""The tables of measured numbers in the documentation are those in ``benchmarks/results``."""

from __future__ import annotations

import re

from support import ROOT

RESULTS = ROOT / "benchmarks" / "results"


def table(page: str, first_column: str) -> dict[str, list[str]]:
    """Returns the rows of the table in ``docs/<page>`` whose heading begins with `first_column`."""
    text = (ROOT / "docs" / page).read_text()
    (found,) = re.findall(rf"^\| {re.escape(first_column)}.*\n\|[-:|]*\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [[cell.strip(" `") for cell in line.strip("|\n").split("|")] for line in found.splitlines()]
    return {name: cells for name, *cells in rows}


def test_a_heuristic_as_an_option() -> None:
    measured = (RESULTS / "heuristic.txt").read_text().split("kernel ")[1]
    rows = {row.split()[0]: row.split()[2:] for row in measured.splitlines() if " 8x64 " in row}
    assert table("targets.md", "kernel, tile 8") == rows


def test_stream_stores() -> None:
    measured = (RESULTS / "cpu-stream-stores.txt").read_text().split("One run on 16 cores of an Intel Xeon")[1]
    rows = re.findall(r"^(\S.*?) +2\^(\d+) +\S+ +(\S+ \(\S+ to \S+\)) +(\S+) \(", measured, re.MULTILINE)
    shown = table("llvm-passes.md", "kernel | 2^18 floats")
    assert len(shown) == 7
    for name, cells in shown.items():
        by_size = {int(bits): (ours, torch) for kernel, bits, ours, torch in rows if kernel == name}
        assert cells == [*(by_size[bits][0] for bits in (18, 24, 26)), by_size[26][1]], name


def test_both_ways_to_linalg() -> None:
    """An arrow leads from the first way to the way of `tts`; equal numbers are shown once."""
    measured = (RESULTS / "linalg-ways.txt").read_text()
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in measured.splitlines() if line[0:1] == "│"]
    assert len(rows) == 10
    both = {name: [(a, b), (c, d), (ratio, ratio), (older, older)] for name, a, b, c, d, _, _, _, ratio, older in rows}
    shown = {name: [x if x == y else f"{x} → {y}" for x, y in pairs] for name, pairs in both.items()}
    assert table("linalg-ways.md", "kernel | accesses") == shown


def test_masks_that_are_data() -> None:
    measured = (RESULTS / "linalg-masks.txt").read_text()
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in measured.splitlines() if line[0:1] == "│"]
    assert table("linalg-ways.md", "mask | a loop for each") == {name: [a, b] for name, _, _, a, _, _, b in rows}
