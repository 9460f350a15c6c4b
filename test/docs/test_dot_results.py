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
