# SPDX-License-Identifier: Apache-2.0
"""`tx.sanitize.check_launch` on the corpus: what it finds without running is right, and it says what it cannot know."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import triton_ext as tx
from support.sanitizer.cases import Case, Tensors, corpus

DECIDED = ("overflow", "bounds", "view", "hints")
#: Promises about an argument itself, which Triton's front end drops, so that the compiler never learns of them.
DROPPED = {"multiple_of_a_scalar", "multiple_of_an_address"}


def check(case: Case, *, bug: bool) -> Any:
    given = case.given(Tensors(bug=bug))
    return tx.sanitize.check_launch(case.kernel, grid=case.grid, target="cuda:90", **given)


def check_bug(case: Case, report: Any) -> str:
    """Returns what became of a bug: found or unknown. The place has to be right."""
    if not report.findings:
        assert report.unknown, f"{case.name}: missed without a word"
        return "unknown"
    (finding,) = report.findings
    assert (finding.check, finding.line) == (case.check, case.line()), case.name
    if case.argument is not None:
        assert finding.argument == case.argument, case.name
    if case.lane is not None:
        assert (finding.program, finding.lane) == (case.program, case.lane), case.name
    if case.at is not None:
        assert finding.coordinates == case.at, case.name
    return "found"


@pytest.mark.slow
def test_check_launch_on_the_corpus() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for name, case in corpus().items():
        assert not check(case, bug=False), f"{name}: the twin"
        report = check(case, bug=True)
        if case.check in DECIDED and name not in DROPPED:
            seen[case.check, check_bug(case, report)] += 1
        else:
            assert not report, name
    assert seen["overflow", "unknown"] == seen["view", "unknown"] == 0
    assert min(seen["overflow", "found"], seen["view", "found"], seen["hints", "found"]) >= 6
    assert seen["bounds", "found"] >= 50
    assert seen["bounds", "unknown"] <= 17  # data from memory, and pointers that are chosen
