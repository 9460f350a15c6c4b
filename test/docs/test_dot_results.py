# SPDX-License-Identifier: Apache-2.0
"""The numbers in cpu.md that compare two versions of matrix products are those of the measurement."""

from __future__ import annotations

import re

from support import ROOT


def test_products_before_and_now() -> None:
    """The page compares the best tiles of two versions with 16 threads, and the time of attention in both."""
    text = (ROOT / "benchmarks" / "results" / "cpu-dot-units.txt").read_text().partition("\n6. ")[2]
    rows = re.findall(r"^ +16 (\w+ \d+\^3) +(\S+) +([\d.]+) +([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+$", text, re.MULTILINE)
    best: dict[str, tuple[float, float]] = {}
    for product, _, *times in rows:
        before, now = map(float, times)
        old = best.get(product, (before, now))
        best[product] = min(old[0], before), min(old[1], now)
    page = " ".join((ROOT / "docs" / "cpu.md").read_text().split())
    first, *others = (
        f"{now / before:.2f} {'of its time ' * (product == 'bfloat16 1024^3')}for {product.replace('bfloat', 'bf')}"
        for product, (before, now) in best.items()
    )
    assert f"the best tile takes {first}, {', '.join(others[:-1])} and {others[-1]}." in page
    (before,), (now,) = (
        re.findall(rf"^{version} +([\d.]+) .* ([\d.]+) \([\d.]+\)$", text, re.MULTILINE)
        for version in ("before", "now")
    )
    said = (
        f"takes {now[1]} ms with two threads, torch {now[0]} ms; before, it took {before[1]} ms, torch {before[0]} ms"
    )
    assert said in page


def test_sums_of_fp16() -> None:
    """The page has the ratios of products with sums of fp16, with 16 and with 2 threads."""
    text = (ROOT / "benchmarks" / "results" / "cpu-amx.txt").read_text()
    row = r"^matmul float16 \d+\^3, sums of fp16, \S+ +[\d.]+ +[\d.]+ +([\d.]+) "
    two, sixteen = (re.findall(row, part, re.MULTILINE) for part in text.split("CPU backend beside")[1:])
    page = " ".join((ROOT / "docs" / "cpu.md").read_text().split())
    assert f"takes {sixteen[0]} (1024^3) and {sixteen[1]} (2048^3) of the time of torch's, whose sums are f32; " in page
    assert f"with two threads {two[0]} and {two[1]} " in page
