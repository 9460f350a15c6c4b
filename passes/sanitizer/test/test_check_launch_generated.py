# SPDX-License-Identifier: Apache-2.0
"""`check_launch` and NumPy agree on random kernels, at every point: what wraps, what is outside, and the first size."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from triton_ext.sanitize._check_launch import check_launch
from triton_ext.sanitize._memory import Tensor

from support import launched_kernels as generated

SEED, KERNELS = 11, 40


def location(finding: Any) -> tuple[int, ...]:
    """Returns the point of a finding, as the oracle has it."""
    return (finding.program[1], finding.program[0], *finding.values["iteration"], finding.lane)


def check_one(kernel: Any, one: generated.Launched, seen: Counter[str]) -> None:
    size = 20000
    x = Tensor((size,), offset=0)
    report = check_launch(kernel, x, one.n, one.m, B=one.block, grid=one.grid, vary="n", target="cuda:90")
    verdicts = {verdict.check: verdict for verdict in report.verdicts if verdict.what == "store"}
    findings = {finding.check: finding for finding in report.findings}
    wraps = generated.first(generated.wrong(one))
    seen[f"overflow {verdicts['overflow'].verdict}"] += 1
    if verdicts["overflow"].verdict != "unknown":
        assert ("overflow" in findings) == (wraps is not None), one
    if wraps is not None and "overflow" in findings:
        assert location(findings["overflow"]) == wraps, one
    offset, mask = generated.values(one, np.int64 if wraps is not None else np.int16)
    outside = generated.first(mask & ((offset < 0) | (offset >= size)))
    seen[f"bounds {verdicts['bounds'].verdict}"] += 1
    if verdicts["bounds"].verdict != "unknown":
        assert ("bounds" in findings) == (outside is not None), one
    if outside is not None and "bounds" in findings:
        assert location(findings["bounds"]) == outside, one
    if "n" in report.first_sizes and report.first_sizes["n"].is_first:
        seen["first size"] += 1
        least = report.first_sizes["n"].value
        assert generated.wrong(one, {"n": least}).any(), one
        for n in {*range(1, min(least, 20)), *range(max(1, least - 20), least)}:
            assert not generated.wrong(one, {"n": n}).any(), (one, n)


@pytest.mark.slow
def test_it_agrees_with_numpy(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    kernels = [generated.launched(rng, f"kernel{i}") for i in range(KERNELS)]
    module = generated.imported(tmp_path, kernels)
    seen: Counter[str] = Counter()
    for one in kernels:
        check_one(getattr(module, one.name), one, seen)
    assert seen["overflow proved"] + seen["overflow refuted"] >= 0.9 * KERNELS, seen
    assert seen["bounds proved"] + seen["bounds refuted"] >= 0.9 * KERNELS, seen
    assert min(seen[f"{check} {verdict}"] for check in ("overflow", "bounds") for verdict in ("proved", "refuted")) > 3
