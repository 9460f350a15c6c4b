# SPDX-License-Identifier: Apache-2.0
"""A search with two objectives, time and code size: its front, in the result, in the report, and on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import support
import triton_ext as tx
from support.search import unrolled
from support.search.studies import study, tell_all
from triton_ext.searching import report
from triton_ext.searching.history import front_of
from triton_ext.searching.page import page_of
from triton_ext.searching.reporting import report_of


@pytest.mark.slow
def test_fast_code_and_small_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", support.PYTHONPATH)
    file = tmp_path / "study.db"
    result = tx.search(
        unrolled.accumulate,
        unrolled.GRID,
        unrolled.make_inputs,
        configs=unrolled.CONFIGS,
        target="cpu",
        objectives=("time", "code_size"),
        knobs=["llvm.small", "llvm.unroll"],
        sampler="grid",
        trials=6,
        budget=200,
        storage=file,
        progress=False,
    )
    valid = [trial for trial in result.history if trial.is_valid]
    assert len(valid) >= 5
    by_number = {trial.number: trial for trial in result.front}
    smallest = min(valid, key=lambda t: (t.objectives[1], t.objectives[0]))
    fastest = min(valid, key=lambda t: t.objectives)
    assert {smallest.number, fastest.number} <= by_number.keys()
    assert smallest.values == {"llvm.small": True}
    assert smallest.objectives[1] < result.default.objectives[1] / 2
    for trial in valid:  # each other one is beaten by one of the front
        if trial.number not in by_number and trial.same_as is None:
            pairs = (zip(one.objectives, trial.objectives, strict=True) for one in result.front)
            assert any(all(a <= b for a, b in each) for each in pairs)
    found = report(file)
    assert [trial.number for trial in found.front] == list(by_number)
    text = str(found)
    assert "front: no other trial beats these in all of time, code_size" in text
    page = page_of(found, [], "")
    (table,) = re.findall(r'<table id="front">(.*?)</table>', page)
    assert "<th class=n>ms<th class=n>code size" in table
    assert [int(number) for number in re.findall(r"<tr><td class=n>(\d+)</td>", table)] == list(by_number)
    assert f"{smallest.objectives[1]:,.0f}" in table
    assert page.count("<svg") == 2  # the history, and the two objectives


def test_equal_trials_are_on_the_front_once() -> None:
    made = study(objectives=("time", "shared"))
    values = iter([(1.0, 9.0), (1.0, 9.0), (3.0, 3.0), (3.0, 4.0)])
    tell_all(made, 4, lambda v: {"status": "ok", "objectives": next(values), "binary": str(v)})
    assert [trial.number for trial in front_of(made.trials)] == [0, 2]


def test_a_front_without_trials() -> None:
    made = study(objectives=("time", "shared"))
    assert "No trial is valid" in page_of(report_of(made.optuna), [], "")
    assert 'id="front"' not in page_of(report_of(study().optuna), [], "")
