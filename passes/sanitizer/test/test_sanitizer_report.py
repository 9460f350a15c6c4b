# SPDX-License-Identifier: Apache-2.0
"""What a report says: as a list, as text, as JSON, as SARIF, and as an exception."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_ext.probe._arguments import of_launch
from triton_ext.sanitize import _tensors, _text
from triton_ext.sanitize._report import merged, read
from triton_ext.sanitize._source import span_of

import triton_ext as tx
from triton_ext import probe
from triton_ext.errors import TritonExtError

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def add(x_ptr, y_ptr, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i)
    tl.store(out + i, x + y, mask=i < n)


LINES = {text.strip(): number for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)}
LOAD_X = LINES["x = tl.load(x_ptr + i, mask=i < n, other=0)"]
LOAD_Y = LINES["y = tl.load(y_ptr + i)"]


def run(n: int = 1024, size: int = 1000) -> None:
    memory = torch.zeros(1024)
    add[(4,)](torch.zeros(size), memory[:1000], torch.zeros(1024), n, B=256)


@pytest.mark.slow
def test_findings_have_line_tensor_and_lane() -> None:
    with tx.sanitize("bounds") as report:
        run()
    outside, view = report.findings
    assert (outside.check, outside.severity, outside.kernel, outside.access) == ("bounds", "error", "add", "load")
    assert (outside.file, outside.line, outside.column) == (__file__, LOAD_X, 9)
    assert (outside.argument, outside.shape, outside.strides, outside.dtype) == ("x_ptr", (1000,), (1,), "float32")
    assert (outside.coordinates, outside.distance) == ((1000,), 4)
    assert (outside.program, outside.lane, outside.lanes, outside.programs) == ((3, 0, 0), 1000 - 768, 24, 1)
    assert "n = 1024" in outside.suggestion
    assert (view.check, view.severity, view.line, view.argument) == ("view", "warning", LOAD_Y, "y_ptr")
    assert "mask=offsets < 1000" in view.suggestion
    assert sum(report.counts().values()) == len(report.accesses) > 0
    assert {one.line for one in report.accesses} == {LOAD_X, LOAD_Y, LOAD_Y + 1}


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is_wrong() -> None:
    with tx.sanitize("bounds") as report:
        add[(4,)](torch.zeros(1000), torch.zeros(1024), torch.zeros(1000), 1000, B=256)
    assert report.findings == []
    assert report.text().startswith("sanitize: nothing found; accesses: ")


@pytest.mark.slow
def test_launches_add_up_and_tensors_are_told_apart() -> None:
    with tx.sanitize("bounds") as report:
        run()
        run()
        assert report.findings[0].lanes == 48  # in the block
        run(size=900)
    outside, view = report.findings
    assert (outside.shape, outside.lanes, outside.programs) == ((1000,), 48 + 124, 1)
    assert view.lanes == 72


@pytest.mark.slow
def test_counts_survive_when_slots_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_ext.probe._slots.MOST", 4)
    with tx.sanitize("bounds") as report:
        for n in range(1001, 1025):
            run(n)
    (outside, _) = report.findings
    assert outside.lanes == sum(range(1, 25))
    assert len(report._session._launches) <= 24 + 4  # those that records name, and the last ones


@pytest.mark.slow
def test_more_failures_than_records() -> None:
    """A hundred programs in each of ten launches: of each launch 64 are recorded."""
    with tx.sanitize("bounds") as report:
        for _ in range(10):
            add[(100,)](torch.zeros(1), torch.zeros(1600), torch.zeros(1600), 1600, B=16)
    (outside,) = report.findings
    assert (outside.lanes, outside.coordinates, outside.at_least) == (
        15990,
        (outside.lane + 16 * outside.program[0],),
        True,
    )
    assert 64 <= outside.programs <= 100


@pytest.mark.slow
def test_the_text_is_that_of_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    with tx.sanitize("bounds") as report:
        run()
    first, second, summary = report.text().split("\n\n")
    assert first.splitlines() == [
        "error[bounds]: load outside of x_ptr: 4 bytes behind its end",
        f"  --> test_sanitizer_report.py:{LOAD_X}:9, in add",
        "   |",
        f"{LOAD_X} |     x = tl.load(x_ptr + i, mask=i < n, other=0)",
        "   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "   = tensor: x_ptr: float32[1000], strides (1)",
        "   = index: x_ptr[1000]",
        "   = first: program (3, 0, 0), lane 232",
        "   = count: 24 lanes in 1 program",
        "   = values: i = 1000, n = 1024",
        "   = help: the mask lets element [1000] through; does it compare with the wrong bound? n = 1024, and the "
        "shape is (1000,)",
    ]
    assert second.startswith("warning[view]: load outside of the view y_ptr")
    assert summary.startswith("sanitize: 1 error, 1 warning in 1 kernel; accesses: ")


def test_json_is_the_report() -> None:
    with tx.sanitize("bounds") as report:
        run()
    again = read(report.json())
    assert again.findings == report.findings
    assert again.accesses == report.accesses
    assert again.text() == report.text()
    both = merged([again, report])
    # The same bug in two processes is one finding, with the lanes of both.
    assert [one.lanes for one in both.findings] == [2 * one.lanes for one in report.findings]
    assert both.counts() == report.counts()


def check_sarif(log: Any) -> None:
    """Checks what the schema of SARIF 2.1.0 requires of the objects that occur in a log."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    assert isinstance(log["runs"], list)
    for run_ in log["runs"]:
        driver = run_["tool"]["driver"]
        assert driver["name"]
        names = [rule["id"] for rule in driver["rules"]]
        assert len(set(names)) == len(names)
        for rule in driver["rules"]:
            assert rule["shortDescription"]["text"]
        assert run_["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        for result in run_["results"]:
            assert result["message"]["text"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert names[result["ruleIndex"]] == result["ruleId"]
            assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
            for place in [*result["locations"], *result.get("relatedLocations", ())]:
                physical = place["physicalLocation"]
                assert physical["artifactLocation"]["uri"]
                assert "\\" not in physical["artifactLocation"]["uri"]
                region = physical["region"]
                assert region["startLine"] >= 1
                assert 1 <= region["startColumn"] < region["endColumn"]


def test_sarif_has_what_its_schema_requires(tmp_path: Path) -> None:
    with tx.sanitize("bounds") as report:
        run()
    report.write(tmp_path / "new" / "log.sarif")
    log = json.loads((tmp_path / "new" / "log.sarif").read_text())
    check_sarif(log)
    first, second = log["runs"][0]["results"]
    assert (first["ruleId"], first["level"], second["level"]) == ("bounds", "error", "warning")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("passes/sanitizer/test/test_sanitizer_report.py")
    text = Path(__file__).read_text().splitlines()[place["region"]["startLine"] - 1]
    assert text[place["region"]["startColumn"] - 1 : place["region"]["endColumn"] - 1] == (
        "tl.load(x_ptr + i, mask=i < n, other=0)"
    )
    assert first["partialFingerprints"] != second["partialFingerprints"]
    with pytest.raises(TritonExtError, match="there is no format 'xml', there are: text, json, sarif"):
        report.write(tmp_path / "x", "xml")


def test_on_the_cpu_the_launch_raises_once() -> None:
    with tx.sanitize("bounds", raises=True) as report:
        with pytest.raises(tx.sanitize.SanitizerError, match="load outside of x_ptr") as error:
            run()
        assert len(error.value.report.findings) == 2
        add[(4,)](torch.zeros(1024), torch.zeros(1024), torch.zeros(1024), 1024, B=256)
    assert len(report.findings) == 2


@pytest.mark.slow
def test_an_error_does_not_repeat_what_an_earlier_one_has_said() -> None:
    """The first launch has 24 lanes out of x, and as many out of the view of y; the second one only lanes out of x."""
    errors = []
    with tx.sanitize("bounds", raises=True) as report:
        for memory in (torch.zeros(1000), torch.zeros(1024)):
            with pytest.raises(tx.sanitize.SanitizerError) as error:
                add[(4,)](torch.zeros(1000), memory, torch.zeros(1024), 1024, B=256)
            errors.append(error.value)
    assert [one.line for one in errors[0].findings] == [LOAD_X, LOAD_Y]
    assert [(one.line, one.lanes) for one in errors[1].findings] == [(LOAD_X, 24)]
    assert "y_ptr" not in str(errors[1])
    assert "count: 24 lanes" in str(errors[1])
    assert [(one.line, one.lanes) for one in errors[1].report.findings] == [(LOAD_X, 48), (LOAD_Y, 24)]
    assert [(one.line, one.lanes) for one in report.findings] == [(LOAD_X, 48), (LOAD_Y, 24)]


@triton.jit
def recorded(x_ptr, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    probe.record("first", n)
    tl.store(out + i, tl.load(x_ptr + i, mask=i < n, other=0))


@pytest.mark.slow
def test_a_record_of_the_kernel_is_no_finding() -> None:
    out = torch.zeros(1024)
    with tx.sanitize("bounds", raises=True) as report:
        recorded[(4,)](torch.zeros(1000), out, 1000, B=256)
        with pytest.raises(tx.sanitize.SanitizerError):
            recorded[(4,)](torch.zeros(1000), out, 1024, B=256)
        recorded[(4,)](torch.zeros(1000), out, 1000, B=256)
    assert [(one.check, one.lanes) for one in report.findings] == [("bounds", 24)]


def test_waiting_for_a_device_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no GPU here, so the function of torch does nothing, and the block says that something has failed."""
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    plain = torch.cuda.synchronize
    block = tx.sanitize("bounds", raises=True)
    with block as report:
        block._raises = False  # as on a GPU, where a launch does not wait
        run()
        block._raises = True
        assert torch.cuda.synchronize is not plain
        with pytest.raises(tx.sanitize.SanitizerError):
            torch.cuda.synchronize()
        torch.cuda.synchronize()  # once
    assert torch.cuda.synchronize is plain
    assert len(report.findings) == 2


@pytest.mark.slow
def test_blocks_nest() -> None:
    with tx.sanitize("bounds") as outer:
        with tx.sanitize("lanes") as inner:
            run()
        assert inner.findings == []
        run()
    assert [one.lanes for one in outer.findings] == [24, 24]
    run()  # outside
    assert [one.lanes for one in outer.findings] == [24, 24]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bound",), "there is no check 'bound', there are: bounds, lanes, uninit, race, overflow, hints, arith, all"),
        (([],), "no check is named"),
    ],
)
def test_wrong_names(arguments: Any, message: str) -> None:
    with pytest.raises(TritonExtError, match=message):
        tx.sanitize(*arguments)
    with pytest.raises(TritonExtError, match="there is no action 'ignore', there are: report, suppress, trap"):
        tx.sanitize(action="ignore")


#: A tensor, the offset of an element in it from its first one, and the index that is meant.
INDICES = [
    (torch.zeros(4, 6), 24, (4, 0)),
    (torch.zeros(4, 6), -6, (-1, 0)),
    (torch.zeros(4, 10)[:, :6], 7, (0, 7)),
    (torch.zeros(4, 6).t(), 24, (0, 4)),
    (torch.zeros(3, 4, 5), 60 + 7, (3, 1, 2)),
    (torch.zeros(10)[::2], 10, (5,)),
    (torch.zeros(10)[::2], 3, None),  # between two elements
    (torch.zeros(5).expand(3, 5), 6, (0, 6)),
    (torch.zeros(()), 1, None),
    (np.zeros(8, np.float32)[::-1], -9, (9,)),
    (np.zeros(8, np.float32)[::-1], 1, (-1,)),
    (np.zeros((4, 6), np.float32)[::-1], -24, (4, 0)),
]


@pytest.mark.parametrize(("tensor", "offset", "index"), INDICES)
def test_the_index_of_an_address(tensor: Any, offset: int, index: tuple[int, ...] | None) -> None:
    (argument,) = of_launch(("x",), {"x": tensor})
    assert _tensors.coordinates(argument, argument.address + 4 * offset) == index
    if index is not None:
        assert sum(i * stride for i, stride in zip(index, argument.strides, strict=True)) == offset
        assert _tensors.coordinates(argument, argument.address + 4 * offset + 1) is None


def test_how_far_outside_an_access_is() -> None:
    bounds = (1000, 1040)
    assert [_tensors.outside(bounds, at, 4) for at in (996, 998, 1000, 1036, 1037, 1040)] == [-4, -2, 0, 0, 1, 4]


def test_columns_of_a_kernel_in_a_function(tmp_path: Path) -> None:
    """Triton counts them from the kernel's indentation."""
    file = tmp_path / "k.py"
    file.write_text("def f():\n    def kernel(x):\n        y = load(x +\n                 1)\n    é = g(1) + load(2)\n")
    assert span_of(str(file), 3, 9) == (13, 21)
    assert span_of(str(file), 3, 0) == (9, 21)
    assert span_of(str(file), 99, 3) == (1, 1)
    assert span_of("", 0, 0) == (1, 1)


@triton.jit
def logarithm(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.log(tl.load(x + i)))


@pytest.mark.slow
def test_json_has_no_nan_which_is_not_json() -> None:
    with tx.sanitize("arith") as report:
        logarithm[(1,)](-torch.ones(8), torch.zeros(8), B=8)
    (finding,) = report.findings
    assert str(finding.values["result"]) == "nan"

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    for text in (report.json(), report.sarif()):
        json.loads(text, parse_constant=refuse)
    assert read(report.json()).findings[0].values["result"] == "nan"


def test_colours_change_no_text() -> None:
    text = """warning[view]: load outside of the view x, error[0]
  --> a.py:10:9, in k
   |
10 | \tv = a ^ b  # = x: 1 -->
   | \t    ^^^^^
   = values: i = 3 | 4

sanitize: 1 warning in 1 kernel"""
    found = _text.coloured(text)
    assert re.sub("\x1b\\[[0-9;]*m", "", found) == text
    marked = re.findall("\x1b\\[([1-9;]+)m(.*?)\x1b\\[0m", found)
    assert marked == [
        ("1;33", "warning"), ("34", "  -->"), ("34", "   |"), ("34", "10 |"), ("34", "   |"), ("1;31", "^^^^^"),
        ("34", "   = values:"), ("1", "sanitize:"),
    ]  # fmt: skip
