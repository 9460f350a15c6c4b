# SPDX-License-Identifier: Apache-2.0
"""The corpus: its table of expectations is what the oracle finds, and the sanitizer finds the same, on the CPU backend.

The corpus is in `corpus`, the oracle in `support.sanitizer.oracle`.
"""

from __future__ import annotations

import mmap
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

import triton_ext as tx
from support.sanitizer import judge
from support.sanitizer.cases import Case, Tensors, corpus
from support.sanitizer.first_lanes import keep_first_lanes
from support.sanitizer.truth import truth

pytest.importorskip("triton_ext.backends.cpu.driver")
pytest.importorskip("triton_ext.sanitize")

pytestmark = pytest.mark.keeps_kernels

CASES = corpus()
#: What the sanitizer does not find yet, and why.
MISSED = {}
#: Of each check the first case; the others are slow together.
SAMPLE = {case.check: name for name, case in reversed(CASES.items())}.values()


def every(missed: dict[str, str]) -> list[Any]:
    """Returns the cases as parameters of a test; those of `missed` may fail."""
    return [
        pytest.param(
            name,
            marks=[pytest.mark.slow] * (name not in SAMPLE)
            + [pytest.mark.xfail(reason=missed[name], strict=True) for name in {name} & missed.keys()],
        )
        for name in CASES
    ]


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    """What the oracle says of every case."""
    return truth("corpus")


def test_corpus_covers_what_the_issue_names() -> None:
    checks = Counter(case.check for case in CASES.values())
    assert len(CASES) >= 130
    assert checks.keys() == {"bounds", "view", "lanes", "uninit", "race", "overflow", "hints", "arith"}
    assert min(checks.values()) >= 7


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_table_is_what_the_oracle_finds(oracle: dict[str, Any], name: str) -> None:
    case = CASES[name]
    found = oracle[name]
    assert not found["twin"], "the twin has a bug, too"
    if case.check == "overflow":  # whose wrapped offset is out of bounds
        found["bug"] = [one for one in found["bug"] if one["check"] != "bounds"]
    if case.check == "race":  # pairs of lines, of which one is the marked line
        assert found["bug"]
        for pair in found["bug"]:
            assert (pair["check"], pair["argument"]) == ("race", case.argument)
            assert case.line() in (pair["line"], pair["other"])
        return
    (one,) = found["bug"]
    assert (one["check"], one["line"], one["argument"]) == (case.check, case.line(), case.argument)
    if case.lane is not None:
        *program, lane, offset = one["lanes"][0]
        assert (tuple(program), lane) == (case.program, case.lane)
        assert case.lanes in (None, len(one["lanes"]))
        if case.at is not None:
            tensor = tensor_of(case, case.given(Tensors()))
            assert np.dot(case.at, tensor.stride()) * tensor.element_size() == offset


def tensor_of(case: Case, given: dict[str, Any]) -> Any:
    """Returns the tensor to which the finding belongs."""
    name, _, number = str(case.argument).partition("[")
    tensor = given[name][int(number[:-1])] if number else given[name]
    return getattr(tensor, "base", tensor) if not hasattr(tensor, "stride") else tensor


@pytest.mark.slow
@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("name", every(MISSED))
def test_bug_is_found(name: str) -> None:
    case = CASES[name]
    checks = "bounds" if case.check == "view" else case.check
    assert not judge.differences(case, judge.findings(case, Tensors(), checks))


@pytest.mark.slow
@pytest.mark.usefixtures("on_cpu")
def test_bugs_at_loaded_indices_are_found_by_their_first_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a GPU of NVIDIA does, where kernels count no lanes that they look at one by one."""
    keep_first_lanes(monkeypatch)
    kept = []
    for name, case in CASES.items():
        if (
            case.kernel.fn.__module__ == "sanitizer_corpus_indices"
            and case.check in ("bounds", "view")
            and case.launched
        ):
            found = judge.findings(case, Tensors(), "bounds")
            assert not judge.differences(case, found), name
            kept += [name for one in found if not one.counted]
    assert {"gather_of_rows", "histogram"} <= {*kept}


@pytest.mark.slow
@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("name", every({}))
def test_twin_has_no_finding(name: str) -> None:
    found = judge.findings(CASES[name], Tensors(bug=False))
    assert [(one.check, one.line, one.message) for one in found] == []


@pytest.mark.slow
@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("option", ["static", "corners"])
@pytest.mark.parametrize("check", ["bounds", "view", "lanes", "hints"])
def test_bugs_are_found_without(check: str, option: str) -> None:
    """And nothing in the twins: where the kernel compares all corners, and where it compares all lanes."""
    checks = "bounds" if check == "view" else check
    for name, case in CASES.items():
        if case.check == check and case.launched:
            found = judge.findings(case, Tensors(), checks, **{option: False})
            assert not judge.differences(case, found), name
            assert not judge.findings(case, Tensors(bug=False), checks, **{option: False}), name


class Mapped(Tensors):
    """Tensors of many gigabytes, of bytes, of which only the pages that are touched take memory."""

    def huge(self, *shape: int, dtype: torch.dtype = torch.int8) -> torch.Tensor:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE of Linux
        memory = mmap.mmap(-1, int(np.prod(shape)), flags=flags)
        return torch.frombuffer(memory, dtype=torch.int8).view(shape)


@pytest.mark.slow
@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.check == "overflow"])
def test_what_wraps_is_found_in_a_launch(name: str) -> None:
    """As one finding, though the address that has wrapped is out of bounds; and none of the twin."""
    case = CASES[name]
    for is_bug in (True, False):
        with tx.sanitize(action="suppress" if is_bug else "report") as report:
            case.kernel[case.grid](**case.given(Mapped(bug=is_bug)))
        assert [(one.check, one.line) for one in report.findings] == [("overflow", case.line())] * is_bug, report.text()
        assert not [one for one in report.accesses if (one.check, one.verdict) == ("overflow", "unsupported")]
